import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { runCommand } from '../../../../adapters/cli/run-command.js';
import { cipherFromFile } from '../../../../adapters/cli/serve/encryption-keys.js';
import { readTextFile } from '../../../../adapters/cli/terminal.js';

const folder = mkdtempSync(join(tmpdir(), 'signalbox-keys-'));
afterAll(() => rmSync(folder, { recursive: true }));

function fileOf(text: string): string {
  const path = join(folder, 'keys');
  writeFileSync(path, text);
  return path;
}

const [first, second] = ['ab'.repeat(32), Buffer.alloc(32, 1).toString('base64')];

describe('the file of encryption keys', () => {
  test('the first key seals, all of them open', async () => {
    const before = await cipherFromFile(fileOf(`2025 ${first}\n`));
    const after = await cipherFromFile(fileOf(`2026 ${second}\n\n2025 ${first}\n`));
    const sealed = before.seal('secret');
    expect(after.open(sealed)._unsafeUnwrap()).toBe('secret');
    expect(before.open(after.seal('secret')).isErr()).toBe(true);
  });

  test.each([
    ['nothing', ''],
    ['a key without an id', first],
    ['a short key', 'k1 abcd'],
    ['the same id twice', `k1 ${first}\nk1 ${second}`],
  ])('%s is refused without showing a key', async (_what, text) => {
    const error = await cipherFromFile(fileOf(text)).catch((thrown: unknown) => thrown);
    expect(String(error)).toContain('--encryption-key-file');
    expect(String(error)).not.toContain(first);
  });

  test.skipIf(process.platform === 'win32')('a file that others may read is warned of', async () => {
    const path = fileOf(`k1 ${first}\n`);
    const warnings: string[] = [];
    for (const mode of [0o644, 0o620, 0o600]) {
      chmodSync(path, mode);
      await cipherFromFile(path, (message) => warnings.push(message));
    }
    expect(warnings).toEqual([expect.stringContaining('0644'), expect.stringContaining('0620')]);
  });

  test('a missing file is refused', async () => {
    await expect(cipherFromFile(join(folder, 'none'))).rejects.toThrow('cannot be read');
  });
});

describe('signalbox new-key', () => {
  async function newKey(
    path: string,
  ): Promise<{ readonly code: number; readonly out: string; readonly error: string }> {
    let out = '';
    let error = '';
    const terminal = {
      out: (text: string) => {
        out += text;
      },
      error: (text: string) => {
        error += text;
      },
      read: readTextFile,
      colours: false,
      environment: {},
    };
    return { code: await runCommand(['new-key', path], terminal), out, error };
  }

  test('makes a file that only its owner may read, and prints the id alone', async () => {
    const path = join(folder, 'made');
    const made = await newKey(path);
    expect(made).toEqual({ code: 0, out: expect.stringMatching(/^k1-[0-9a-f]{6}\n$/), error: '' });
    if (process.platform !== 'win32') expect(statSync(path).mode & 0o777).toBe(0o600);
    const warnings: string[] = [];
    const cipher = await cipherFromFile(path, (message) => warnings.push(message));
    expect([cipher.open(cipher.seal('secret'))._unsafeUnwrap(), warnings]).toEqual(['secret', []]);
  });

  test('adds a key that seals from now on, while the old one still opens; the file stays private', async () => {
    const path = fileOf(`old ${first}\n`);
    const sealed = (await cipherFromFile(path)).seal('secret');
    expect((await newKey(path)).code).toBe(0);
    if (process.platform !== 'win32') expect(statSync(path).mode & 0o777).toBe(0o600);
    const cipher = await cipherFromFile(path);
    expect(cipher.open(sealed)._unsafeUnwrap()).toBe('secret');
    expect(cipher.seal('secret')).not.toContain('old');
    expect(readdirSync(folder).filter((name) => name.endsWith('.new'))).toEqual([]);
  });

  test('leaves a file alone that is no key file, and a folder where it may not write', async () => {
    const path = fileOf('not keys at all, but something that somebody needs\n');
    expect((await newKey(path)).code).toBe(1);
    expect(readFileSync(path, 'utf8')).toContain('something that somebody needs');
    const absent = await newKey(join(folder, 'no', 'such', 'folder'));
    expect(absent).toMatchObject({ code: 1, error: expect.stringContaining('ENOENT') });
  });
});
