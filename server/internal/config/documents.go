package config

import "slices"

// Documents says which documents clients may ask by an identifier, and whether others are answered.
type Documents struct {
	TrustedDocuments           []string `help:"Manifests of the documents that frontends were built with, which they may ask by an identifier. They are read again when they change." placeholder:"FILE" group:"API"`
	TrustedDocumentsMode       string   `help:"What becomes of other documents: off answers them, log answers and logs them, enforce refuses them." enum:"off,log,enforce" default:"off" group:"API"`
	TrustedDocumentsBypass     string   `help:"Secret of those for whom other documents are answered all the same, in the header Foldql-Documents-Bypass; better given by its variable, or by a file." group:"API"`
	TrustedDocumentsBypassFile string   `help:"File that holds the secret." placeholder:"FILE" group:"API"`
}

// Bypass is the secret; "" where there is none.
func (o *Documents) Bypass() (string, error) {
	return headerSecretOf("trusted-documents-bypass", o.TrustedDocumentsBypass, o.TrustedDocumentsBypassFile)
}

// Validate refuses options that do not fit together.
func (o *Documents) Validate() error {
	if !slices.Contains([]string{"off", "log", "enforce"}, o.TrustedDocumentsMode) {
		return Wrong("trusted-documents-mode", "%q is none of off, log and enforce", o.TrustedDocumentsMode)
	}
	if o.TrustedDocumentsMode != "off" && len(o.TrustedDocuments) == 0 {
		return Wrong("trusted-documents-mode", "%s needs the documents that are trusted: give --trusted-documents",
			o.TrustedDocumentsMode)
	}
	return nil
}
