import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { cipherFromFile } from '../../../adapters/cli/encryption-keys.js';

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

  test('a missing file is refused', async () => {
    await expect(cipherFromFile(join(folder, 'none'))).rejects.toThrow('cannot be read');
  });
});
