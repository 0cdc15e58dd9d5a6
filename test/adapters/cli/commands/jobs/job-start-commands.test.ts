import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connect, orThrow } from '../../../../../src/client/index.js';
import { endAll, signalbox } from '../../cli-process.js';
import { typed } from '../../typed-commands.js';

/** Commands that begin a job, against a server with a runner. */

let origin = '';
let folder = '';
let file = '';

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'signalbox-start-'));
  file = join(folder, 'example.nomad.hcl');
  origin = await signalbox(['serve', '--listen', '127.0.0.1:0', '--access', 'open']).origin();
});
afterAll(() => {
  endAll();
  rmSync(folder, { recursive: true, force: true });
});

/** The example, without a deployment whose health is waited for. */
const quick = (): string =>
  readFileSync(file, 'utf8').replace('type = "service"', 'type = "service"\n  update { max_parallel = 0 }');

const run = (...words: readonly string[]) => typed(origin, { files: { job: quick() } }, ...words);

describe('job init', () => {
  it('writes a job file that runs, and no file that is there', async () => {
    expect(await typed(origin, {}, 'job', 'init', file)).toMatchObject({ code: 0, error: '' });
    const again = await typed(origin, {}, 'init', file);
    expect(again).toMatchObject({ code: 1, error: `signalbox: ${file} already exists\n` });
    const nowhere = await typed(origin, {}, 'job', 'init', join(folder, 'no', 'folder'));
    expect(nowhere.code).toBe(1);
    expect(nowhere.error).toContain('cannot be written');
    expect(await run('job', 'run', 'job')).toMatchObject({ code: 0, error: '' });
    const files = { given: readFileSync(file, 'utf8') };
    expect((await typed(origin, { files }, 'job', 'validate', 'given')).out).toBe('the job is valid\n');
  });
});

describe('job start', () => {
  it('registers a stopped job again, with its source', async () => {
    expect((await run('job', 'start', 'example')).error).toBe('signalbox: job example is not stopped\n');
    expect((await run('job', 'stop', '-detach', 'example')).code).toBe(0);
    const started = await run('job', 'start', 'example');
    expect(started).toMatchObject({ code: 0, error: '' });
    expect(started.out).toMatch(/allocation \w{8} of group "web"/);
    const box = connect({ url: origin });
    const { value: job } = await orThrow(box.jobs.read('example'));
    expect(job).toMatchObject({ Stop: false, Version: 2 });
    const { value: kept } = await orThrow(box.jobs.submission('example', 2));
    expect(kept?.Source).toBe(quick());
  });

  it('of an unknown job fails', async () => {
    expect(await run('start', 'nobody')).toMatchObject({ code: 1, error: 'signalbox: there is no job nobody\n' });
  });

  it('can be left alone', async () => {
    expect((await run('job', 'stop', '-detach', 'example')).code).toBe(0);
    expect((await run('job', 'start', '-detach', 'example')).out).toMatch(/^job started, evaluation /);
    expect((await run('job', 'stop', '-detach', 'example')).code).toBe(0);
    expect(JSON.parse((await run('job', 'start', 'example', '-json')).out)).toMatchObject({
      evalId: expect.any(String),
    });
  });
});

describe('job scaling-events', () => {
  it('tells how counts were changed, newest first', async () => {
    expect((await run('job', 'scaling-events', 'example')).out).toBe('no scaling events\n');
    expect((await run('job', 'scale', '-detach', '-message', 'more work', 'example', 'web', '2')).code).toBe(0);
    expect(await run('job', 'scale', '-detach', 'example', 'web', '1')).toMatchObject({ code: 0, error: '' });
    const { out } = await run('job', 'scaling-events', 'example');
    expect(out.split('\n').map((line) => line.trim().split(/ {2,}/).slice(0, 4))).toEqual([
      ['Group', 'Count', 'Before', 'Error'],
      ['web', '1', '2', 'no'],
      ['web', '2', '1', 'no'],
      [''],
    ]);
    expect(out).toContain('more work');
    expect(JSON.parse((await run('job', 'scaling-events', '-json', 'example')).out)).toMatchObject([
      { Group: 'web', Count: 1 },
      { Group: 'web', Count: 2, Message: 'more work' },
    ]);
  });
});
