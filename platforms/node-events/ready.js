// The ready line, printed once connections are accepted: see docs/reference/protocol.md.

import { readFileSync } from 'node:fs';

export const VERSION = JSON.parse(readFileSync(new URL('package.json', import.meta.url), 'utf8')).version;

// The second parameter is the result of address() of a net.Server.
export function readyLine({ json, workload }, { address, family, port }, pid) {
  const model = 'events';
  const kind = workload === 'chat' ? 'classic' : undefined; // JSON.stringify omits what is undefined
  if (!json) {
    const host = family === 'IPv6' ? `[${address}]` : address;
    return `ready: ${model}${kind ? ` (${kind})` : ''} on ${host}:${port}, pid ${pid}`;
  }
  const runtime = process.version;
  return JSON.stringify({ event: 'ready', host: address, port, pid, model, class: kind, version: VERSION, runtime });
}
