// The frame of a page around its file.

export const FRAME_END = '\n</pre>\n</body></html>\n';

// The frame before the file. The query must not need quoting in HTML.
export function frame(remote, script, query) {
  return `<html>
<head><title>Klatch web</title></head>
<body>
<p>SERVER_SOFTWARE = klatch
<p>REMOTE_ADDR = ${remote}
<p>SCRIPT_NAME = ${script}
<p>QUERY_STRING = ${query}
<pre>
`;
}
