import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCommand } from '../../../../adapters/cli/run-command.js';
import type { Keyboard } from '../../../../adapters/cli/terminal.js';
import { connect, orThrow } from '../../../../src/client/index.js';
import { endAll, signalbox } from '../cli-process.js';

/** Commands for what runs, against a server whose node runs one job with two actions. */

let origin = '';
let allocation = '';

const source = `job "talk" {
  group "web" {
    task "main" {
      driver = "raw_exec"
      config {
        command = "/bin/sh"
        args = ["-c", "echo started; exec sleep 1000"]
      }
      resources {
        cpu = 20
        memory = 16
      }
    }
  }
}`;

beforeAll(async () => {
  origin = await signalbox(['serve', '--listen', '127.0.0.1:0', '--access', 'open', '--store', 'memory']).origin();
  expect((await type('job', 'run', '-detach', 'job.hcl')).error).toBe('');
  allocation = await running();
});
afterAll(endAll);

async function type(...args: readonly string[]) {
  return typeWith({}, ...args);
}

interface Given {
  /** What standard input brings, in chunks. */
  readonly input?: readonly string[];
  readonly keyboard?: Keyboard;
}

/** Texts that a command prints and bytes that it passes on are gathered alike. */
async function typeWith({ input = [], keyboard }: Given, ...args: readonly string[]) {
  const bytes = { out: [] as Uint8Array[], error: [] as Uint8Array[] };
  let out = '';
  let error = '';
  const code = await runCommand(args, {
    out: (text) => {
      out += text;
    },
    error: (text) => {
      error += text;
    },
    read: async () => source,
    colours: false,
    environment: { SIGNALBOX_ADDR: origin },
    streams: {
      input: () => Readable.from(input.map((chunk) => Buffer.from(chunk))),
      out: async (piece) => void bytes.out.push(piece),
      error: async (piece) => void bytes.error.push(piece),
      keyboard,
    },
  });
  const text = (pieces: readonly Uint8Array[]) => Buffer.concat(pieces).toString();
  return { code, out: out + text(bytes.out), error: error + text(bytes.error) };
}

/** The ID of the allocation that runs, as soon as one does that is not `other`. */
async function running(other = ''): Promise<string> {
  const box = connect({ url: origin });
  for (let waiting = {}; ; ) {
    const { value, index } = await orThrow(box.allocations.list(waiting));
    const found = value.items.find((each) => each.ClientStatus === 'running' && each.DesiredStatus === 'run');
    if (found !== undefined && found.ID !== other) return found.ID;
    waiting = { index, wait: '10s' };
  }
}

describe('alloc stop', () => {
  it('ends an allocation, and tells which one takes its place', async () => {
    const { code, out, error } = await type('alloc', 'stop', allocation.slice(0, 8));
    expect({ code, error }).toEqual({ code: 0, error: '' });
    expect(out).toMatch(
      /^evaluation \w{8} \(.{36}\)\n {2}allocation \w{8} of group "web" on .+\nevaluation \w{8} is complete\n/,
    );
    const next = await running(allocation);
    expect(out).toContain(`allocation ${next.slice(0, 8)} `);
    expect((await type('alloc', 'status', allocation)).out).toMatch(/Desired += stop/);
    allocation = next;
  });

  it('tells only the evaluation when nobody wants to wait', async () => {
    const { code, out } = await type('alloc', 'stop', '-detach', '-no-shutdown-delay', allocation);
    expect({ code, out }).toEqual({
      code: 0,
      out: expect.stringMatching(/^allocation \w{8} stops, evaluation \w{8} \(.{36}\)\n$/),
    });
    allocation = await running(allocation);
  });

  it('names an allocation that is not there', async () => {
    expect(await type('alloc', 'stop', 'ffff')).toMatchObject({
      code: 1,
      error: 'signalbox: there is no allocation ffff\n',
    });
  });
});

describe('alloc exec', () => {
  it('passes input, both outputs and the exit code on', async () => {
    const script = 'read a; read b; echo "$b $a"; echo oops >&2; exit 7';
    const ended = await typeWith({ input: ['one\nt', 'wo\n'] }, 'alloc', 'exec', '-i', allocation, 'sh', '-c', script);
    expect(ended).toEqual({ code: 7, out: 'two one\n', error: 'oops\n' });
  });

  it('takes all behind the allocation as the command, and keeps bytes as they are', async () => {
    const printed = await type(
      'alloc',
      'exec',
      '-task',
      'main',
      allocation,
      '--',
      'printf',
      '%s|',
      '-i',
      '--help',
      'ü',
    );
    expect(printed).toEqual({ code: 0, out: '-i|--help|ü|', error: '' });
  });

  it('ends the input at once unless it is asked for', async () => {
    const given = { input: ['not passed on'] };
    expect(await typeWith(given, 'alloc', 'exec', allocation, 'cat')).toEqual({ code: 0, out: '', error: '' });
    expect((await typeWith(given, 'alloc', 'exec', '-i', allocation, 'cat')).out).toBe('not passed on');
  });

  it('says why a command did not run, and has help of its own', async () => {
    const missing = await type('alloc', 'exec', allocation, '/no/such/command');
    expect(missing).toMatchObject({ code: 1, error: expect.stringMatching(/^signalbox: .*\/no\/such\/command/) });
    expect((await type('alloc', 'exec', '-task', 'other', allocation, 'true')).error).toMatch(/task not found/);
    expect((await type('alloc', 'exec', allocation)).code).toBe(2);
    expect((await type('alloc', 'exec', '--help')).out).toMatch(/^usage: signalbox alloc exec ALLOCATION COMMAND/);
  });

  it('hands the local terminal over, and takes it back', async () => {
    const seen: unknown[] = [];
    const keyboard: Keyboard = {
      setRaw: (raw) => void seen.push(raw),
      size: () => ({ rows: 31, columns: 97 }),
      onResize: () => () => void seen.push('unfollowed'),
    };
    const shown = await typeWith(
      { input: ['\n'], keyboard },
      'alloc',
      'exec',
      '-t',
      allocation,
      'sh',
      '-c',
      'read x; stty size; test -t 1',
    );
    expect(seen).toEqual([true, 'unfollowed', false]);
    expect(shown).toMatchObject({ code: 0, out: expect.stringContaining('31 97') });
    seen.length = 0;
    await typeWith({ input: [], keyboard }, 'alloc', 'exec', '-i', allocation, 'true');
    expect(seen).toEqual([]);
  });
});
