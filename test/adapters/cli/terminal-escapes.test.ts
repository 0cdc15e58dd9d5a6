import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { print } from '../../../adapters/cli/commands/print.js';
import { displayOn } from '../../../adapters/cli/monitor/monitor.js';
import { jobDiffText } from '../../../adapters/cli/output/job-diff.js';
import { coloursFor } from '../../../adapters/cli/output/terminal-text.js';
import { stderrLogger } from '../../../adapters/cli/terminal.js';
import type { JobDiff } from '../../../src/jobs/index.js';
import { servedCommands } from './served-commands.js';

/* Strings of jobs, variables and nodes come from others; a terminal obeys the control characters in them. */

/** Everything that a terminal obeys, line feeds and tabs excepted. */
const obeyed = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/;
const ownColours = /\u001b\[(?:0|1|31|32|33)m/g;
const pieces = [
  '\u001b[31m',
  '\u001b[2J',
  '\u001b]0;title\u0007',
  '\u009b2J',
  '\u202e',
  '\r',
  '\b',
  '\u007f',
  '\n',
  'x',
];
const hostile = fc
  .array(fc.oneof(fc.constantFrom(...pieces), fc.string({ unit: 'binary', maxLength: 4 })))
  .map((all) => all.join(''));

const field = fc.record({
  Type: fc.constantFrom('Added' as const, 'Deleted' as const, 'Edited' as const),
  Name: hostile,
  Old: hostile,
  New: hostile,
  Annotations: fc.option(fc.array(hostile)),
});
const diff = fc.record({
  Type: fc.constant('Edited' as const),
  ID: hostile,
  Fields: fc.array(field, { maxLength: 3 }),
  Objects: fc.array(
    fc.record({
      Type: fc.constant('Added' as const),
      Name: hostile,
      Fields: fc.array(field, { maxLength: 2 }),
      Objects: fc.constant(null),
    }),
    { maxLength: 2 },
  ),
  TaskGroups: fc.array(
    fc.record({
      Type: fc.constant('Edited' as const),
      Name: hostile,
      Fields: fc.constant(null),
      Objects: fc.constant(null),
      Tasks: fc.array(
        fc.record({
          Type: fc.constant('Edited' as const),
          Name: hostile,
          Fields: fc.array(field, { maxLength: 2 }),
          Objects: fc.constant(null),
          Annotations: fc.option(fc.array(hostile)),
        }),
        { maxLength: 2 },
      ),
      Updates: fc.constant(null),
    }),
    { maxLength: 2 },
  ),
});

function printed(json: boolean, value: unknown, text: (value: unknown) => string): string {
  const out: string[] = [];
  print({ terminal: { out: (piece: string) => void out.push(piece) }, json } as never, value, text);
  return out.join('');
}

describe('what is printed', () => {
  it('has the colours of a diff, and no control character of a job', () => {
    fc.assert(
      fc.property(diff, fc.boolean(), (given, colours) => {
        const text = printed(false, given, () => jobDiffText(given as unknown as JobDiff, coloursFor(colours)));
        const marks = text.match(ownColours) ?? [];
        // Each line has one sign at most, with a colour and its end.
        expect(marks.length).toBeLessThanOrEqual(colours ? text.split('\n').length * 2 : 0);
        expect(text.replace(/(?<=^ *)\u001b\[3[123]m(\+ {3}|- {3}|\+\/- )\u001b\[0m/gm, '')).not.toMatch(obeyed);
      }),
    );
  });

  it('is escaped as text and as JSON, which stays the same value', () => {
    fc.assert(
      fc.property(fc.dictionary(hostile, hostile), (value) => {
        expect(printed(false, value, () => Object.entries(value).join('\n'))).not.toMatch(obeyed);
        const json = printed(true, value, () => '');
        expect(json).not.toMatch(obeyed);
        expect(JSON.parse(json)).toEqual(value);
      }),
    );
  });

  it('is escaped in the log, which stays JSON', () => {
    fc.assert(
      fc.property(hostile, hostile, (message, value) => {
        const lines: string[] = [];
        stderrLogger({ error: (line: string) => void lines.push(line) } as never).warn({ value }, message);
        expect(lines.join('').trimEnd()).not.toMatch(/\n/);
        expect(lines.join('')).not.toMatch(obeyed);
        expect(JSON.parse(lines.join(''))).toMatchObject({ message, value });
      }),
    );
  });

  it('is escaped where something is followed', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        const pieces: string[] = [];
        const out = (piece: string): void => void pieces.push(piece);
        const display = displayOn({ out, screen: undefined });
        display.show('', text);
        display.end('', text);
        const screened = displayOn({
          out,
          screen: { size: () => ({ rows: 9, columns: 80 }) },
        });
        screened.show(text, '');
        screened.end(text, '');
        // Those that draw in place.
        expect(pieces.join('').replaceAll(/\u001b\[(?:\d+A\r|K|J)/g, '')).not.toMatch(obeyed);
      }),
    );
  });
});

describe('commands', () => {
  const { given } = servedCommands('--no-runner');
  const controls = '\\u001b]0;owned\\u0007\\u001b[2J\\u009b31m\\r';
  const source = (value: string) => `job "tenants" {
  type = "batch"
  meta { note = "${controls}${value}" }
  group "g" {
    task "t" {
      driver = "raw_exec"
      config { command = "true" }
      env { X = "${value}${controls}" }
    }
  }
}
`;

  it.each([
    ['job', 'plan', 'job.hcl'],
    ['job', 'run', '-detach', 'job.hcl'],
    ['job', 'run', '-detach', 'next.hcl'],
    ['job', 'history', '-p', 'tenants'],
    ['job', 'history', '-p', '--json', 'tenants'],
    ['job', 'inspect', 'tenants'],
    ['job', 'status', 'tenants'],
    ['job', 'plan', 'job.hcl'],
    ['parse', 'job.hcl'],
  ])('%j', async (...words) => {
    const files = { 'job.hcl': source('one'), 'next.hcl': source('two') };
    for (const environment of [{ FORCE_COLOR: '1' }, { NO_COLOR: '1' }]) {
      const { out, error } = await given({ files, environment }, ...words.filter((word) => word !== undefined));
      expect(out).not.toBe('');
      expect(out.replace(ownColours, '')).not.toMatch(obeyed);
      expect(error.replace(ownColours, '')).not.toMatch(obeyed);
    }
  });
});

describe('what tasks and variables hold', () => {
  const served = servedCommands();
  const { given, run } = served;
  const output = '\\\\033]0;owned\\\\007\\\\033[2J\\\\033[31mred\\\\033[0m\\\\rmain: forged\\\\n';
  const job = `job "tenants" {
  type = "batch"
  group "g" {
    task "main" {
      driver = "raw_exec"
      config {
        command = "/bin/sh"
        args    = ["-c", "printf '${output}'; printf '${output}' > local/file"]
      }
      resources {
        cpu    = 20
        memory = 16
      }
    }
  }
}
`;

  it('reaches a terminal with its colours only, and files and pipes as it is', async () => {
    await given({ files: { '-': job } }, 'job', 'run', '-wait', '-');
    const value = '\u001b[2J\u001b[31mred\u001b[0m';
    await given({ files: { '-': JSON.stringify({ Items: { key: value } }) } }, 'var', 'put', 'app/one', '-');
    const [allocation] = (await served.box.jobs.allocations('tenants'))._unsafeUnwrap().value;
    const id = allocation?.ID ?? '';
    for (const words of [
      ['alloc', 'logs', id],
      ['job', 'logs', 'tenants'],
      ['job', 'logs', '-all', 'tenants'],
      ['alloc', 'fs', id, 'main/local/file'],
      ['var', 'get', '-item', 'key', 'app/one'],
    ]) {
      const { out } = await given({ isTerminal: true }, ...words);
      expect(out.match(ownColours), words.join(' ')).toHaveLength(2);
      expect(out.replace(ownColours, '')).not.toMatch(obeyed);
      expect((await run(...words)).out).toContain('\u001b[2J');
    }
    const all = (await given({ isTerminal: true }, 'job', 'logs', '-all', 'tenants')).out;
    for (const line of all.trimEnd().split('\n')) expect(line.replace(ownColours, '')).toMatch(/^[0-9a-f]{8} main: /);
  });
});
