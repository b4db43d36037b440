package main

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// certificateFiles writes the certificate of httptest and its key, and returns their paths and who trusts it.
func certificateFiles(t *testing.T) (certificate, key string, trust *x509.CertPool) {
	t.Helper()
	other := httptest.NewTLSServer(http.NotFoundHandler())
	defer other.Close()
	pair := other.TLS.Certificates[0]
	der, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	write := func(name, kind string, bytes []byte) string {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: bytes}), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	trust = x509.NewCertPool()
	trust.AddCert(other.Certificate())
	return write("certificate.pem", "CERTIFICATE", pair.Certificate[0]), write("key.pem", "PRIVATE KEY", der), trust
}

func TestClientsOfTLSSpeakTheVersionOfHTTPThatTheServerOffers(t *testing.T) {
	certificate, key, trust := certificateFiles(t)
	for _, http2 := range []bool{false, true} {
		address := start(t, options{workload: workloadWeb, certificate: certificate, key: key, http2: http2})
		transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: trust}, ForceAttemptHTTP2: true}
		defer transport.CloseIdleConnections()
		client := http.Client{Transport: transport, Timeout: testTimeout}
		form := "urlroot=/file_set/&dir=0&class=0&num=0&client=1"
		for _, ask := range []func() (*http.Response, error){
			func() (*http.Response, error) {
				return client.Get("https://" + address + "/file_set/dir00000/class0_1")
			},
			func() (*http.Response, error) {
				request, err := http.NewRequest(http.MethodPost, "https://"+address+"/dynamic", strings.NewReader(form))
				if err != nil {
					return nil, err
				}
				request.Header.Set("Cookie", "my_cookie=user_id=10001&last_ad=1")
				return client.Do(request)
			},
		} {
			reply, err := ask()
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(reply.Body)
			reply.Body.Close()
			if err != nil || reply.StatusCode != http.StatusOK || len(body) == 0 || (reply.ProtoMajor == 2) != http2 {
				t.Errorf("%s %s with %d bytes, error %v, where HTTP/2 is %v", reply.Proto, reply.Status, len(body), err, http2)
			}
		}
	}
}
