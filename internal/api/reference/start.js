// Starts the viewer. Keys typed into the page live in memory only (persistAuthorization stays off), and no outside
// validator is asked.
SwaggerUIBundle({
  url: new URL('../openapi.yaml', document.baseURI).href,
  dom_id: '#reference',
  deepLinking: true,
  validatorUrl: null,
  persistAuthorization: false,
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  showExtensions: true,
});
