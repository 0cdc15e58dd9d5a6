// Finds Chromium and Firefox on this system, or installs them with Debian's package manager.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const browsers = {
  chromium: {
    title: 'Chromium',
    variable: 'SIGNALBOX_CHROMIUM',
    // The same browser without windows needs half the time.
    packages: ['chromium-headless-shell', 'chromium'],
    usualPaths: [
      '/usr/bin/chromium-headless-shell',
      '/usr/bin/chromium',
      '/usr/bin/chromium-browser',
      '/usr/bin/google-chrome',
      '/snap/bin/chromium',
      '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
      '/Applications/Chromium.app/Contents/MacOS/Chromium',
    ],
  },
  firefox: {
    title: 'Firefox',
    variable: 'SIGNALBOX_FIREFOX',
    packages: ['firefox-esr', 'firefox'],
    usualPaths: [
      '/usr/bin/firefox-esr',
      '/usr/bin/firefox',
      '/snap/bin/firefox',
      '/Applications/Firefox.app/Contents/MacOS/firefox',
    ],
  },
};

function installedPath({ variable, usualPaths }) {
  return process.env[variable] ?? usualPaths.find((path) => existsSync(path));
}

/** The path of a browser; fails if there is none. */
export function pathOf(name) {
  const path = installedPath(browsers[name]);
  if (path === undefined) throw new Error(missing(browsers[name]));
  return path;
}

const missing = ({ title, packages, variable }) =>
  `${title} is missing: install the package "${packages.at(-1)}", or name a browser in ${variable}`;

function install(wanted) {
  const apt = (...args) =>
    spawnSync('apt-get', args, { stdio: 'inherit', env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' } }).status === 0;
  apt('update', '-q');
  for (const { packages } of wanted) packages.some((name) => apt('install', '-y', '-q', '--no-install-recommends', name));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const absent = () => Object.values(browsers).filter((browser) => installedPath(browser) === undefined);
  if (absent().length > 0) install(absent());
  for (const browser of absent()) {
    console.error(missing(browser));
    process.exitCode = 1;
  }
}
