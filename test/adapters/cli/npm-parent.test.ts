import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { commandLineProgram } from '../../support/command-line.js';

/* `npx signalbox serve` and `npm run` start the server in a shell: it ends with npm, whoever ends npm and how. */

let folder: string;
const groups: number[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'signalbox-npm-'));
  const options = 'serve --listen 127.0.0.1:0 --access open --no-runner';
  const scripts = {
    foreground: `signalbox ${options}`,
    background: `nohup signalbox ${options} >out 2>&1 & echo left`,
    session: `setsid signalbox ${options}`,
  };
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'app', private: true, scripts }));
  mkdirSync(join(folder, 'node_modules/.bin'), { recursive: true });
  const program = join(folder, 'node_modules/.bin/signalbox');
  writeFileSync(program, `#!/bin/sh\necho $$ > ${folder}/pid\nexec ${process.execPath} ${commandLineProgram()} "$@"\n`);
  chmodSync(program, 0o755);
});
afterEach(() => {
  for (const group of groups.splice(0)) stop(-group);
  const pid = serverId();
  if (pid !== undefined) stop(pid);
  rmSync(folder, { recursive: true, force: true });
});

function stop(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended.
  }
}

function serverId(): number | undefined {
  try {
    return Number(readFileSync(join(folder, 'pid'), 'utf8'));
  } catch {
    return undefined;
  }
}

function isAlive(): boolean {
  try {
    const state = readFileSync(`/proc/${serverId()}/stat`, 'utf8');
    return !/\) Z /.test(state);
  } catch {
    return false;
  }
}

async function started(program: string, ...args: readonly string[]): Promise<ChildProcess> {
  const env = { ...process.env, npm_config_offline: 'true', npm_config_update_notifier: 'false' };
  const child = spawn(program, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'ignore'], detached: true });
  groups.push(child.pid ?? 0);
  let out = '';
  child.stdout?.on('data', (chunk: Buffer) => {
    out += chunk.toString();
  });
  await expect.poll(() => out, { timeout: 30_000 }).toMatch(/listening on|left/);
  return child;
}

/** Also of a process that has exited before it is asked. */
async function exitOf(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
}

const npx = ['npx', '--no-install', 'signalbox', 'serve', '--listen', '127.0.0.1:0', '--access', 'open', '--no-runner'];

describe.runIf(process.platform === 'linux')('a server that npm started', () => {
  it.each([
    ['npx ends by SIGTERM', npx, 'SIGTERM'],
    ['npx ends by SIGKILL', npx, 'SIGKILL'],
    ['npm ends by SIGKILL', ['npm', 'run', 'foreground'], 'SIGKILL'],
  ] as const)('ends when %s', async (_name, [program, ...args], signal) => {
    const npm = await started(program, ...args);
    expect(isAlive()).toBe(true);
    npm.kill(signal);
    await expect.poll(isAlive, { timeout: 15_000 }).toBe(false);
  });

  it('goes on in the background, and in its own session', async () => {
    const npm = await started('npm', 'run', 'background');
    await exitOf(npm);
    const listening = () => readFileSync(join(folder, 'out'), 'utf8');
    await expect.poll(listening, { timeout: 30_000 }).toContain('listening on');
    expect(isAlive()).toBe(true);
    stop(serverId() ?? 0);
    const other = await started('npm', 'run', 'session');
    other.kill('SIGKILL');
    await exitOf(other);
    // Longer than two looks at npm.
    const until = Date.now() + 1500;
    await expect.poll(() => isAlive() && Date.now() > until, { timeout: 5000 }).toBe(true);
  });
});
