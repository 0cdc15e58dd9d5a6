import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { contentTypeOf, contentTypeOfBytes } from '../../../../adapters/runner/commands/allocation-files.js';

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'signalbox-types-'));
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('the type of a file', () => {
  it.each([
    ['plain words\n', 'text/plain; charset=utf-8'],
    ['{"a":1}', 'text/plain; charset=utf-8'],
    ['\x1b[31mred', 'text/plain; charset=utf-8'],
    ['\xef\xbb\xbfmarked', 'text/plain; charset=utf-8'],
    ['\xff\xfea\0', 'text/plain; charset=utf-16le'],
    ['  <!DOCTYPE HTML><html>', 'text/html; charset=utf-8'],
    ['<b >x', 'text/html; charset=utf-8'],
    ['<bold>', 'text/plain; charset=utf-8'],
    ['\n<?xml version="1.0"?>', 'text/xml; charset=utf-8'],
    ['%PDF-1.7', 'application/pdf'],
    ['\x89PNG\r\n\x1a\n', 'image/png'],
    ['\x1f\x8b\x08\0', 'application/x-gzip'],
    ['a\0b', 'application/octet-stream'],
  ])('is told by its first bytes: %j', (text, type) => {
    expect(contentTypeOfBytes(Buffer.from(text, 'latin1'))).toBe(type);
  });

  it('is unknown for what is empty, no file or not there, and told by the name of JSON', async () => {
    writeFileSync(join(folder, 'empty'), '');
    writeFileSync(join(folder, 'x.json'), 'no JSON');
    writeFileSync(join(folder, 'text'), 'text');
    expect(await contentTypeOf(join(folder, 'empty'), true)).toBe('application/octet-stream');
    expect(await contentTypeOf(folder, false)).toBe('application/octet-stream');
    expect(await contentTypeOf(join(folder, 'gone'), true)).toBe('application/octet-stream');
    expect(await contentTypeOf(join(folder, 'x.json'), true)).toBe('application/json');
    expect(await contentTypeOf(join(folder, 'text'), true)).toBe('text/plain; charset=utf-8');
  });
});
