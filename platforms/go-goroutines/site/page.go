package site

import "bytes"

const frameEnd = "\n</pre>\n</body></html>\n"

// writeFrame writes the frame before the file of a page. The query must not need quoting in HTML.
func writeFrame(to *bytes.Buffer, remote, script, query string) {
	for _, text := range [...]string{
		"<html>\n<head><title>Klatch web</title></head>\n<body>\n<p>SERVER_SOFTWARE = klatch\n<p>REMOTE_ADDR = ", remote,
		"\n<p>SCRIPT_NAME = ", script,
		"\n<p>QUERY_STRING = ", query,
		"\n<pre>\n",
	} {
		to.WriteString(text)
	}
}
