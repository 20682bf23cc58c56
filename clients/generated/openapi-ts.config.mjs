// What @hey-api/openapi-ts makes of the contract: typed functions, and a zod schema that every request and every answer must pass.
export default {
  input: "../../internal/web/api/openapi.yaml",
  output: { path: "made", module: { extension: ".js" } },
  logs: { file: false },
  plugins: ["@hey-api/client-fetch", "@hey-api/typescript", "zod", { name: "@hey-api/sdk", validator: true }],
};
