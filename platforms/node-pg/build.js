// Installs the module pg into the folder of the argument, unless this machine has it: npm fetches the versions of
// package-lock.json.

import { spawnSync } from 'node:child_process';
import { copyFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

const [folder] = process.argv.slice(2);

function isInstalled() {
  try {
    createRequire(import.meta.url).resolve('pg');
    return true;
  } catch {
    return false;
  }
}

if (!isInstalled()) {
  for (const name of ['package.json', 'package-lock.json']) {
    copyFileSync(new URL(name, import.meta.url), path.join(folder, name));
  }
  const options = { cwd: folder, encoding: 'utf8' };
  const { status, stderr, error } = spawnSync('npm', ['ci', '--no-audit', '--no-fund', '--ignore-scripts'], options);
  if (status !== 0) {
    const reason = error ? error.message : stderr.trim();
    console.error(`the module pg is not installed, and npm cannot fetch it: ${reason}; install it: apt-get install node-pg`);
    process.exitCode = 2;
  }
}
