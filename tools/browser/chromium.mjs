// Finds the Chromium of the system, or installs it with Debian's package manager.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const usualPaths = [
  // The same browser without windows needs half the time.
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/snap/bin/chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
];

/** The path of the browser; undefined if there is none. */
export function chromiumPath() {
  return process.env.SIGNALBOX_CHROMIUM ?? usualPaths.find((path) => existsSync(path));
}

function installed() {
  const apt = (...args) => spawnSync('apt-get', args, { stdio: 'inherit', env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' } }).status === 0;
  const install = (name) => apt('install', '-y', '-q', '--no-install-recommends', name);
  return apt('update', '-q') && (install('chromium-headless-shell') || install('chromium'));
}

if (process.argv[1] === fileURLToPath(import.meta.url) && chromiumPath() === undefined) {
  if (!installed() || chromiumPath() === undefined) {
    console.error('Chromium is missing and cannot be installed: install the package "chromium", or name a browser in SIGNALBOX_CHROMIUM');
    process.exit(1);
  }
}
