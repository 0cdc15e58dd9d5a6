import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  ArtifactFailed,
  type ArtifactLimits,
  fetchArtifacts,
} from '../../../../adapters/runner/artifacts/task-artifacts.js';
import { type TaskPaths, taskPaths } from '../../../../adapters/runner/disk/task-target.js';
import { undiciDownload } from '../../../../adapters/undici/index.js';
import type { TaskArtifact } from '../../../../src/jobs/document/task-parts.js';
import { collectGarbage } from '../../../support/collect-garbage.js';

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

let base: string;
let paths: TaskPaths;
let origin: string;
let asked: string[] = [];
let answers: Record<string, Answer> = {};
const server = createServer((request, response) => {
  asked.push(request.url ?? '');
  const answer = answers[(request.url ?? '').split('?')[0] ?? ''];
  if (answer === undefined) response.writeHead(404).end();
  else answer(request, response);
});

beforeEach(async () => {
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  base = mkdtempSync(join(tmpdir(), 'signalbox-artifacts-'));
  paths = taskPaths(join(base, 'alloc-1'), 'main');
  for (const path of [paths.local, paths.notes, paths.shared]) mkdirSync(path, { recursive: true });
  asked = [];
  answers = { '/file': (_request, response) => response.end('content') };
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((done) => server.close(done));
  rmSync(base, { recursive: true, force: true });
});

const download = undiciDownload({ allow: { cidrs: ['127.0.0.1/32'] } });
const never = new AbortController().signal;
const of = (path: string, change: Partial<TaskArtifact> = {}): TaskArtifact => ({
  GetterSource: path.startsWith('http') ? path : origin + path,
  GetterOptions: null,
  GetterHeaders: null,
  GetterMode: 'any',
  GetterInsecure: false,
  RelativeDest: 'local/',
  Chown: false,
  ...change,
});
const fetch = (artifacts: TaskArtifact[], limits: ArtifactLimits = {}, signal = never) =>
  fetchArtifacts({ artifacts, paths, fill: (text) => text, limits }, download, signal);
const failure = async (artifact: TaskArtifact, limits: ArtifactLimits = {}): Promise<ArtifactFailed> => {
  const error = await fetch([artifact], limits).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof ArtifactFailed)) throw new Error(`no failure of the artifact, but ${String(error)}`);
  return error;
};
const local = (name: string): string => readFileSync(join(paths.local, name), 'utf8');
const digest = (algorithm: string): string => createHash(algorithm).update('content').digest('hex');

describe('artifacts', () => {
  it('are put where the job says, with the headers that it gives', async () => {
    let token: unknown;
    answers['/big'] = (request, response) => {
      token = request.headers['x-token'];
      response.end(Buffer.alloc(3_000_000, 'x'));
    };
    const named = of('/big', {
      GetterMode: 'file',
      RelativeDest: '../alloc/data/big',
      GetterHeaders: { 'X-Token': 't' },
    });
    await fetch([of('/file'), of('/file', { RelativeDest: 'local/deep/er' }), named]);
    expect([local('file'), local('deep/er/file'), token]).toEqual(['content', 'content', 't']);
    expect(readFileSync(join(paths.shared, 'data', 'big')).length).toBe(3_000_000);
  });

  it.each(['md5', 'sha1', 'sha256', 'sha512'])('have the %s that the job names', async (algorithm) => {
    const right = `${algorithm}:${digest(algorithm)}`;
    await fetch([of('/file', { GetterOptions: { checksum: right } })]);
    expect(local('file')).toBe('content');
  });

  it('with another checksum are not left behind', async () => {
    const wrong = await failure(of('/file', { GetterOptions: { checksum: `sha256:${'0'.repeat(64)}` } }));
    expect(wrong).toMatchObject({
      isFinal: false,
      message: expect.stringContaining(`the checksum is ${digest('sha256')}`),
    });
    expect([readdirSync(paths.local), readdirSync(paths.notes)]).toEqual([[], []]);
  });

  it('have the checksum that a list names', async () => {
    answers['/sums'] = (_request, response) => response.end(`${digest('sha256')}  file\n`);
    await fetch([of('/file', { GetterOptions: { checksum: `file:${origin}/sums` } })]);
    expect(local('file')).toBe('content');
    answers['/sums'] = (_request, response) => response.end(`${digest('sha256')}  other\n`);
    rmSync(join(paths.notes, 'artifacts.json'));
    expect((await failure(of('/file', { GetterOptions: { checksum: `file:${origin}/sums` } }))).message).toContain(
      'the checksum file has no entry for file',
    );
  });

  it('are fetched once, and only those that a runner before has not got', async () => {
    await expect(fetch([of('/file'), of('/later')])).rejects.toThrow('status 404');
    answers['/later'] = (_request, response) => response.end('later');
    await fetch([of('/file'), of('/later')]);
    await fetch([of('/file'), of('/later')]);
    expect(asked).toEqual(['/file', '/later', '/later']);
  });

  it('take no half file for a whole one', async () => {
    answers['/half'] = (_request, response) => {
      response.writeHead(200, { 'content-length': '100' });
      response.write('half', () => response.destroy());
    };
    expect((await failure(of('/half'))).isFinal).toBe(false);
    expect(readdirSync(paths.local)).toEqual([]);
  });

  it.each([
    ['that never answers', 'silent', 'sent nothing for 100 ms'],
    ['that stops in the middle', 'stuck', 'sent nothing for 100 ms'],
    ['that drips', 'drip', 'within 500 ms'],
    ['that never ends', 'endless', 'larger than 1000000 bytes'],
  ])('give up on a server %s', async (_what, path, message) => {
    answers['/silent'] = () => undefined;
    answers['/stuck'] = (_request, response) => void response.write('begin');
    answers['/drip'] = (_request, response) => {
      const timer = setInterval(() => response.write('x'), 20);
      // A deadline is kept, whatever else is collected meanwhile.
      const collector = setTimeout(collectGarbage, 100);
      response.on('close', () => {
        clearInterval(timer);
        clearTimeout(collector);
      });
    };
    answers['/endless'] = (_request, response) => {
      const more = (): void =>
        void response.write(Buffer.alloc(65_536), () => response.destroyed || setImmediate(more));
      more();
    };
    const failed = await failure(of(`/${path}`), {
      idleTimeout: message.startsWith('sent nothing') ? 100 : 60_000,
      totalTimeout: path === 'drip' ? 500 : 60_000,
      maximumBytes: 1_000_000,
    });
    expect(failed.message).toContain(message);
    expect([readdirSync(paths.local), readdirSync(paths.notes)]).toEqual([[], []]);
  });

  it('end with the task', async () => {
    const controller = new AbortController();
    answers['/silent'] = () => controller.abort();
    await expect(fetch([of('/silent')], {}, controller.signal)).rejects.toThrow('was cancelled');
  });

  it('follow redirects, without the headers of the job to another server', async () => {
    const tokens: unknown[] = [];
    const other = createServer((request, response) => {
      tokens.push(request.headers['x-token'], request.headers.authorization);
      response.end('elsewhere');
    });
    await new Promise<void>((done) => other.listen(0, '127.0.0.1', done));
    const away = `http://127.0.0.1:${(other.address() as AddressInfo).port}/x`;
    answers['/there'] = (_request, response) => void response.writeHead(302, { location: '/away' }).end();
    answers['/away'] = (request, response) => {
      tokens.push(request.headers['x-token']);
      response.writeHead(307, { location: away }).end();
    };
    await fetch([of('/there', { GetterHeaders: { 'x-token': 't' } })]);
    other.close();
    expect([local('there'), tokens]).toEqual(['elsewhere', ['t', undefined, undefined]]);
  });

  it('go round in circles only so often', async () => {
    answers['/round'] = (_request, response) => void response.writeHead(301, { location: '/round' }).end();
    expect((await failure(of('/round'))).message).toContain('redirects');
    expect(asked.length).toBe(11);
  });

  it('come from nowhere that is not allowed, also behind a redirect', async () => {
    const closed = undiciDownload();
    const attempt = (artifact: TaskArtifact, by = download) =>
      fetchArtifacts({ artifacts: [artifact], paths, fill: (text) => text, limits: {} }, by, never);
    await expect(attempt(of('/file'), closed)).rejects.toMatchObject({
      isFinal: true,
      message: expect.stringContaining('only to public addresses'),
    });
    answers['/inside'] = (_request, response) =>
      void response.writeHead(302, { location: 'http://169.254.169.254/latest' }).end();
    await expect(attempt(of('/inside'))).rejects.toMatchObject({ isFinal: true });
    answers['/file-url'] = (_request, response) =>
      void response.writeHead(302, { location: 'file:///etc/passwd' }).end();
    await expect(attempt(of('/file-url'))).rejects.toThrow('http');
    expect(asked).toEqual(['/inside', '/file-url']);
  });

  it('say nothing of paths and secrets', async () => {
    const { message } = await failure(of(`/secret-path?token=hidden`));
    expect(message).not.toMatch(/secret-path|hidden/);
  });

  it.each([
    ['out of the folder', { RelativeDest: '../../x' }],
    ['into the notes of the runner', { RelativeDest: 'private' }],
    ['through a link', { RelativeDest: 'local/link' }],
  ])('are not put %s', async (_what, change) => {
    symlinkSync(base, join(paths.local, 'link'));
    await expect(fetch([of('/file', change)])).rejects.toThrow(/outside|is a link/);
    expect([existsSync(join(base, 'file')), asked]).toEqual([false, []]);
  });
});
