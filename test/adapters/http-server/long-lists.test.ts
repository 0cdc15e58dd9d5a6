import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { errAsync } from 'neverthrow';
import { beforeAll, describe, expect, it } from 'vitest';
import { createHttpHandler, type HttpHandler, requestFrom } from '../../../adapters/compat/index.js';
import { type Engine, hostPrincipal } from '../../../src/index.js';
import { registerJob } from '../../../src/operations/jobs/registration/register-job.js';
import { groupDocument } from '../../support/jobs.js';
import { start } from '../cli/cli-process.js';
import { engineUnderTest, everything } from './engine-under-test.js';

const count = 1100;
let engine: Engine;
let handler: HttpHandler;
const ids = Array.from({ length: count }, (_, n) => `job-${String(n).padStart(5, '0')}`);

beforeAll(async () => {
  engine = engineUnderTest();
  handler = createHttpHandler(engine, everything);
  for (const ID of ids) {
    const job = { ID, Type: 'batch' as const, Datacenters: ['nowhere'], TaskGroups: [groupDocument()] };
    (await registerJob(engine, hostPrincipal, { job }))._unsafeUnwrap();
  }
});

interface Listed {
  readonly status: number;
  readonly headers: readonly string[];
  /** How many pieces the body came in. */
  readonly pieces: number;
  readonly ids: readonly string[];
  readonly text: string;
}

async function list(query: string, during?: () => Promise<void>): Promise<Listed> {
  const { status, headers, body } = await handler(requestFrom({ target: `/v1/jobs${query}` }));
  const pieces: string[] = [];
  if (typeof body === 'string' || Buffer.isBuffer(body)) pieces.push(String(body));
  else {
    for await (const piece of body) {
      pieces.push(String(piece));
      await during?.();
    }
  }
  const text = pieces.join('');
  const listed: { ID: string }[] = status === 200 ? JSON.parse(text) : [];
  return { status, headers, pieces: pieces.length, ids: listed.map(({ ID }) => ID), text };
}

describe('a list that is longer than a page of it', () => {
  it('comes whole, in pieces, with the headers of a list', async () => {
    const whole = await list('');
    expect(whole).toMatchObject({ status: 200, ids });
    expect(whole.pieces).toBeGreaterThan(2);
    const page = await list('?per_page=2');
    const withoutToken = page.headers.filter((_, at) => !/nexttoken/i.test(page.headers[at - (at % 2)] ?? ''));
    expect(whole.headers).toEqual(withoutToken);
    expect(page).toMatchObject({ pieces: 1, ids: ids.slice(0, 2) });
    expect((await list('?pretty')).text).toBe(`${JSON.stringify(JSON.parse(whole.text), null, 4)}\n`);
  });

  it.each([
    ['reverse=true', [...ids].reverse()],
    ['prefix=job-00', ids.slice(0, 1000)],
    [`next_token=default.${ids[300]}`, ids.slice(300)],
    [`filter=${encodeURIComponent('ID != "job-00007"')}`, ids.filter((id) => id !== 'job-00007')],
  ])('comes whole with %s', async (query, expected) => {
    expect((await list(`?${query}`)).ids).toEqual(expected);
  });

  it('is one text for readers that wait, who share it', async () => {
    expect(await list('?index=1')).toMatchObject({ status: 200, pieces: 1, ids });
  });

  it('is refused as a whole when its filter fails', async () => {
    const wrong = await list(`?filter=${encodeURIComponent('Nothing == 1')}`);
    expect(wrong).toMatchObject({ pieces: 1 });
    expect(wrong.status).toBeGreaterThanOrEqual(400);
  });

  it('ends with a fault when a page cannot be read, so that nobody takes a part for the whole', async () => {
    let reads = 0;
    const perform: Engine['perform'] = (...call) => {
      reads += 1;
      return reads === 2 ? errAsync({ type: 'storage_failed' }) : engine.perform(...call);
    };
    const { body } = await createHttpHandler({ ...engine, perform }, everything)(requestFrom({ target: '/v1/jobs' }));
    const read = async (): Promise<void> => {
      for await (const piece of body) expect(piece).not.toBe('');
    };
    await expect(read()).rejects.toThrow('a page of a list could not be read');
  });
});

/** `SIGNALBOX_LIST_MEGABYTES=200` for a longer list. */
const megabytes = Number(process.env['SIGNALBOX_LIST_MEGABYTES'] ?? 70);

it('a list that is larger than the heap leaves the server alive', { timeout: 120_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-list-'));
  symlinkSync(join(import.meta.dirname, '../../../node_modules'), join(folder, 'node_modules'));
  const program = join(folder, 'server.mjs');
  await build({
    entryPoints: [join(import.meta.dirname, 'long-list-server.ts')],
    outfile: program,
    bundle: true,
    format: 'esm',
    platform: 'node',
    packages: 'external',
  });
  const heap = '--max-old-space-size=64';
  const child = start(process.execPath, [heap, program, join(folder, 'store.db'), String(megabytes)]);
  try {
    const origin = await child.origin();
    const { body } = await fetch(`${origin}/v1/evaluations`);
    let bytes = 0;
    let last = '';
    for await (const chunk of body as ReadableStream<Uint8Array>) {
      bytes += chunk.length;
      last = Buffer.from(chunk.subarray(-1)).toString();
    }
    expect(bytes).toBeGreaterThan(megabytes * 1_000_000);
    expect(last).toBe(']');
    expect((await fetch(`${origin}/health`)).status).toBe(200);
  } finally {
    child.process.kill('SIGKILL');
    await child.ended;
    rmSync(folder, { recursive: true, force: true });
  }
});
