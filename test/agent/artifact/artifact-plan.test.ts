import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { artifactPlan, digestInList, parseChecksum } from '../../../src/agent/artifact/artifact-plan.js';
import type { TaskArtifact } from '../../../src/jobs/document/task-parts.js';

const artifact = (GetterSource: string, change: Partial<TaskArtifact> = {}): TaskArtifact => ({
  GetterSource,
  GetterOptions: null,
  GetterHeaders: null,
  GetterMode: 'any',
  GetterInsecure: false,
  RelativeDest: 'local/',
  Chown: false,
  ...change,
});
const plain = (text: string): string => text;
const md5 = 'a'.repeat(32);

describe('what to fetch for an artifact', () => {
  it.each([
    ['a file into a folder', artifact('https://h/a/b.bin'), { url: 'https://h/a/b.bin', destination: 'local//b.bin' }],
    [
      'a file by its name',
      artifact('https://h/b', { GetterMode: 'file', RelativeDest: 'local/c' }),
      { url: 'https://h/b', destination: 'local/c' },
    ],
    ['its own query', artifact('https://h/b?x=1&x=2'), { url: 'https://h/b?x=1&x=2' }],
    [
      'options for the server',
      artifact('https://h/b?x=1', { GetterOptions: { y: '2' } }),
      { url: 'https://h/b?x=1&y=2' },
    ],
    [
      'options for the node',
      artifact(`https://h/b?archive=false&checksum=md5:${md5}&filename=c`),
      {
        url: 'https://h/b',
        destination: 'local//c',
        checksum: { type: 'digest', digest: { algorithm: 'md5', digits: md5 } },
      },
    ],
    [
      'an archive as it is',
      artifact('https://h/b.tgz', { GetterOptions: { archive: 'false' } }),
      { url: 'https://h/b.tgz' },
    ],
    [
      'an archive into a folder',
      artifact('https://h/b.tgz?x=1'),
      { url: 'https://h/b.tgz?x=1', destination: 'local/', archive: { format: 'tar.gz', folder: '' } },
    ],
    [
      'a folder of an archive',
      artifact('https://h/b//sub/folder?archive=zip', { GetterMode: 'dir' }),
      { url: 'https://h/b', destination: 'local/', archive: { format: 'zip', folder: 'sub/folder' } },
    ],
    ['an encoded name', artifact('https://h/a%20b'), { url: 'https://h/a%20b', destination: 'local//a b' }],
    [
      'a list of checksums',
      artifact('https://h/b', { GetterOptions: { checksum: 'file:https://h/sums' } }),
      { checksum: { type: 'list', url: 'https://h/sums', name: 'b' } },
    ],
  ])('is %s', (_what, given, expected) => {
    expect(artifactPlan(given, plain)._unsafeUnwrap()).toMatchObject(expected);
  });

  it.each([
    ['git::https://h/b', {}],
    ['s3::https://h/b', {}],
    ['github.com/a/b', {}],
    ['/etc/passwd', {}],
    ['file:///etc/passwd', {}],
    ['https://h/b.tar.xz', {}],
    ['https://h/b.zip', { GetterMode: 'file' }],
    ['https://h/b', { GetterMode: 'dir' }],
    ['https://h/b//sub', {}],
    ['https://h/b', { GetterOptions: { archive: 'rar' } }],
    ['https://h/b', { GetterOptions: { archive: 'constructor' } }],
    ['https://h/b', { GetterInsecure: true }],
    ['https://h/', {}],
    ['https://h/..%2f..%2fetc', {}],
    ['https://h/b', { GetterOptions: { filename: '../x' } }],
    ['https://h/b', { GetterOptions: { checksum: 'md5:zz' } }],
    ['https://h/b', { GetterOptions: { checksum: 'file:/etc/passwd' } }],
  ])('refuses %s %j', (source, change) => {
    expect(artifactPlan(artifact(source, change), plain).isErr()).toBe(true);
  });

  it('fills references before it judges', () => {
    const given = artifact('${base}/b', { GetterHeaders: { 'x-token': '${token}' }, RelativeDest: '${dir}' });
    const fill = (text: string) => text.replace('${base}', 'https://h').replace('${token}', 't').replace('${dir}', 'd');
    const plan = artifactPlan(given, fill)._unsafeUnwrap();
    expect(plan).toMatchObject({ url: 'https://h/b', headers: { 'x-token': 't' }, destination: 'd/b' });
  });

  it('names a file of one part, whatever the source says', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (path, filename) => {
        const plan = artifactPlan(artifact(`https://h/${path}`, { GetterOptions: { filename } }), plain);
        if (plan.isOk()) expect(plan.value.destination).toMatch(/^local\/\/(?!\.{1,2}$)[^/\\\0]+$/s);
      }),
    );
  });
});

describe('checksums', () => {
  it.each([
    ['md5', 32],
    ['sha1', 40],
    ['sha256', 64],
    ['sha512', 128],
  ] as const)('%s, named or by its length', (algorithm, length) => {
    const digits = 'Ab'.repeat(length / 2);
    const digest = { type: 'digest', digest: { algorithm, digits: digits.toLowerCase() } };
    expect(parseChecksum(`${algorithm}:${digits}`, '')._unsafeUnwrap()).toEqual(digest);
    expect(parseChecksum(` ${digits}`, '')._unsafeUnwrap()).toEqual(digest);
  });

  it.each(['sha256:abcd', `sha1:${md5}`, 'crc:00', 'x', 'md5:'])('refuses %s', (text) => {
    expect(parseChecksum(text, '').isErr()).toBe(true);
  });

  it.each([
    ['lines of the usual tools', `${'b'.repeat(32)}  other\n${md5}  ./dir/b\n`, md5],
    ['binary mode', `${md5} *b`, md5],
    ['tags', `MD5 (other) = ${'c'.repeat(32)}\nMD5 (b) = ${md5}`, md5],
    ['digits alone', `${md5}\n`, md5],
    ['another file', `${md5}  c`, undefined],
    ['nothing', '', undefined],
    ['something else', '<html>', undefined],
  ])('are found in a list: %s', (_what, list, digits) => {
    expect(digestInList(list, 'b')?.digits).toBe(digits);
  });
});
