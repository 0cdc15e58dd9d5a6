import { describe, expect, it } from 'vitest';
import { errorOutputUrl, runUrl, workspaceUrl } from '../../../src/notifications/payloads/render-payload.js';

const endpoint = { publicOrigin: 'https://box.example.net' };
const run = { namespace: 'a b', jobId: 'report/dispatch-1?x', runId: 'run-7' };

describe('runUrl', () => {
  it.each([
    [
      '{origin}/v1/job/{job}?namespace={namespace}',
      'https://box.example.net/v1/job/report%2Fdispatch-1%3Fx?namespace=a%20b',
    ],
    ['https://ci.example.net/{run}/{run}', 'https://ci.example.net/run-7/run-7'],
    ['https://ci.example.net/{other}', 'https://ci.example.net/{other}'],
  ])('fills in %s', (template, url) => {
    expect(runUrl(template, endpoint, run)).toBe(url);
  });

  it('takes what a URL cannot hold, and fills nothing in twice', () => {
    expect(runUrl('{job}', endpoint, { ...run, jobId: '\ud800{run}$&' })).toBe('%EF%BF%BD%7Brun%7D%24%26');
  });
});

it('errorOutputUrl leads to the error stream of the task', () => {
  expect(errorOutputUrl(endpoint, 'a-1', 'my task')).toBe(
    'https://box.example.net/v1/client/fs/logs/a-1?task=my%20task&type=stderr&plain=true',
  );
});

it('workspaceUrl takes what a URL cannot hold', () => {
  const workspace = { id: 'ws-1', name: 'a\ud800 b', organization: '\udc00/c', url: null };
  expect(workspaceUrl({ ...endpoint, basePath: '' }, workspace)).toBe(
    'https://box.example.net/app/%EF%BF%BD%2Fc/workspaces/a%EF%BF%BD%20b',
  );
});
