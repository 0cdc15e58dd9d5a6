import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCommand } from '../../../adapters/cli/run-command.js';
import { readTextFile } from '../../../adapters/cli/terminal.js';

/* Job files read files of their own folder and of folders below it, and nothing else. */

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'signalbox-job-files-'));
  mkdirSync(join(folder, 'jobs/sub/deep'), { recursive: true });
  const files: Readonly<Record<string, string | Buffer>> = {
    'secret.txt': 'secret',
    'jobs-2.txt': 'a sibling',
    'jobs/script.sh': 'echo hello ${not_a_variable}\n',
    'jobs/sub/a.sh': 'a',
    'jobs/sub/deep/b.sh': 'b',
    'jobs/sub/c.txt': 'c',
    'jobs/bytes': Buffer.from([0xff, 0xfe, 0x00]),
    'jobs/large': Buffer.alloc(1024 * 1024 + 1, 'x'),
    'jobs/large-enough': Buffer.alloc(1024 * 1024, 'x'),
  };
  for (const [path, content] of Object.entries(files)) writeFileSync(join(folder, path), content);
  symlinkSync('../secret.txt', join(folder, 'jobs/link-out'));
  symlinkSync('..', join(folder, 'jobs/folder-out'));
  symlinkSync('script.sh', join(folder, 'jobs/link-in'));
  symlinkSync('nowhere', join(folder, 'jobs/dangling'));
  execFileSync('mkfifo', [join(folder, 'jobs/pipe')]);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** What `signalbox parse` makes of a job with this expression as the content of a template. */
async function parsed(expression: string, more: { readonly path?: string; readonly environment?: object } = {}) {
  const path = more.path ?? join(folder, 'jobs/job.hcl');
  const job = `job "j" {
    meta {
      value = ${expression}
    }
  }`;
  let [out, error] = ['', ''];
  const code = await runCommand(['parse', path], {
    out: (text) => {
      out += text;
    },
    error: (text) => {
      error += text;
    },
    read: async (name) => (name === path ? job : readTextFile(name)),
    colours: false,
    environment: { ...more.environment },
  });
  const value = code === 0 ? (JSON.parse(out) as { Meta: { value: string } }).Meta.value : undefined;
  return { code, value, error };
}

describe('file functions of the command line', () => {
  it.each([
    ['file("script.sh")', 'echo hello ${not_a_variable}\n'],
    ['file("./sub/../script.sh")', 'echo hello ${not_a_variable}\n'],
    ['file(abspath("./script.sh"))', 'echo hello ${not_a_variable}\n'],
    ['file("link-in")', 'echo hello ${not_a_variable}\n'],
    ['filebase64("bytes")', '//4A'],
    ['tostring(1)', undefined],
    ['"${fileexists("script.sh")}-${fileexists("none")}-${fileexists("dangling")}"', 'true-false-false'],
    ['join(",", fileset(".", "*.sh"))', 'script.sh'],
    ['join(",", fileset("sub", "**/*.{sh,txt}"))', 'a.sh,c.txt,deep/b.sh'],
    ['join(",", fileset(".", "link*"))', 'link-in'],
    ['join(",", fileset(".", "folder-out/*"))', ''],
    ['basename("/a/b.sh")', 'b.sh'],
    ['dirname("/a/b.sh")', '/a'],
    ['pathexpand("~/x")', `${homedir()}/x`],
    ['try(file("none"), "otherwise")', 'otherwise'],
    ['"${strlen(file("large-enough"))}"', '1048576'],
    ['"${strlen(uuidv4())}"', '36'],
  ])('%s', async (expression, value) => {
    expect((await parsed(expression)).value).toBe(value);
  });

  it('tell the absolute path of the folder of the job file', async () => {
    expect((await parsed('abspath("a/../b")')).value).toBe(join(folder, 'jobs/b'));
  });

  it.each([
    ['file("../secret.txt")', 'is outside'],
    ['file("../jobs-2.txt")', 'is outside'],
    ['file("../nothing.txt")', 'is outside'],
    ['file("/etc/passwd")', 'is outside'],
    ['filebase64("link-out")', 'is outside'],
    ['file("folder-out/secret.txt")', 'is outside'],
    ['fileset("..", "*")', 'is outside'],
    ['fileset("folder-out", "*")', 'is outside'],
    ['fileexists("../secret.txt") ? "a" : "b"', 'is outside'],
    ['file("none")', 'There is no file none in'],
    ['file("dangling")', 'There is no file dangling in'],
    ['file("sub")', 'is not a regular file'],
    ['file("pipe")', 'is not a regular file'],
    ['file("bytes")', 'is not UTF-8 text'],
    ['file("large")', 'is larger than 1048576 bytes'],
    ['filebase64("large-enough")', 'is larger than 786432 bytes'],
    ['file("a\\u0000b")', 'NUL'],
    ['fileset(".", "{")', 'The pattern has a brace'],
  ])('%s is refused', async (expression, reason) => {
    const { code, error } = await parsed(expression);
    expect(error).toContain(reason);
    expect(code).toBe(1);
  });

  it('begin at the working folder for a job file on standard input', async () => {
    expect((await parsed('file("package.json")', { path: '-' })).value).toContain('"name"');
    expect((await parsed('file("/etc/hostname")', { path: '-' })).error).toContain('is outside');
  });
});
