package bucket

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/minio/minio-go/v7/pkg/credentials"
)

// s3Credentials looks for credentials where AWS's own tools do: environment, files, and, only if the address asks for
// it, the metadata of the machine or container. A service without a role must not ask for one.
func s3Credentials(profile string, metadata bool) *credentials.Credentials {
	found := []credentials.Provider{&credentials.FileAWSCredentials{Profile: profile}}
	if profile == "" {
		found = slices.Insert(found, 0, credentials.Provider(&credentials.EnvAWS{}))
	}
	if metadata {
		found = append(found, &credentials.IAM{Client: &http.Client{Timeout: 10 * time.Second}})
	}
	return credentials.NewChainCredentials(found)
}

// errCredentials names every place where credentials were looked for.
var errCredentials = errors.New(
	"bucket: there are no credentials in the environment or in ~/.aws, and the metadata of the machine is asked only " +
		"with metadata=true",
)

// checkCredentials returns an error when there are no credentials: the library would send anonymous requests, and the
// server's refusal would not say why.
func (b *s3) checkCredentials() error {
	if b.credentials == nil {
		return nil
	}
	found, err := b.credentials.GetWithContext(
		&credentials.CredContext{Client: &http.Client{Timeout: 10 * time.Second}},
	)
	if err != nil {
		return fmt.Errorf("bucket: credentials: %w", err)
	}
	if found.SignerType.IsAnonymous() {
		return errCredentials
	}
	return nil
}
