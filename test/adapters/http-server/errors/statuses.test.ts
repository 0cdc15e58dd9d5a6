import { describe, expect, it } from 'vitest';
import { neutral } from '../../../../adapters/http-server/dialect.js';
import { jobStatuses, jobStatusOf } from '../../../../adapters/http-server/errors/job-errors.js';
import { notificationStatuses } from '../../../../adapters/http-server/errors/notification-errors.js';
import { errorStatuses } from '../../../../adapters/http-server/open-api/responses.js';
import type { ErrorTag } from '../../../../src/api/errors.js';
import { callsOf } from '../../../../src/api/index.js';

/** Failures of the server or of a node. All other errors are those of a caller. */
const failures: readonly string[] = ['storage_failed', 'undecipherable', 'command_failed'];

const tags = Object.keys(jobStatuses) as ErrorTag[];

describe('statuses of errors with the default names', () => {
  it.each(tags)('%s is a 4xx unless the server or a node failed', (type) => {
    const statuses = neutral.statusesOf(type, 'jobs.read');
    const [usual = 0, ...byReason] = statuses;
    if (failures.includes(type)) expect(usual).toBe(500);
    else expect(usual).toBeLessThan(500);
    for (const status of byReason) expect(status).toBeLessThan(500);
  });

  it('are the same for every call', () => {
    for (const { name } of callsOf()) {
      for (const type of tags) {
        expect(neutral.statusesOf(type, name)).toEqual(neutral.statusesOf(type, 'other'));
      }
    }
  });

  it('of the notification interface are a 4xx unless the store failed', () => {
    for (const [tag, status] of Object.entries(notificationStatuses)) {
      expect(status >= 500, tag).toBe(tag === 'storage_failed');
    }
  });

  it.each([
    ['404', 'job_not_found', undefined, 404],
    ['404', 'tag_refused', 'not_found', 404],
    ['409', 'tag_refused', 'taken', 409],
    ['400', 'tag_refused', 'version_and_latest', 400],
    ['409', 'revert_refused', 'same_version', 409],
    ['409', 'force_refused', 'not_periodic', 409],
    ['409', 'index_conflict', undefined, 409],
    ['409', 'dispatch_refused', 'not_parameterized', 409],
    ['400', 'dispatch_refused', 'payload_too_large', 400],
    ['409', 'node_refused', 'draining', 409],
    ['400', 'node_refused', 'eligibility', 400],
    ['400', 'invalid_job', undefined, 400],
    ['400', 'scaling_refused', 'active_deployment', 400],
    ['500', 'command_failed', undefined, 500],
    ['409', 'command_failed', 'state', 409],
  ] as const)('%s: %s, %s', (_name, type, reason, status) => {
    expect(jobStatusOf(reason === undefined ? { type } : { type, reason })).toBe(status);
  });
});

describe('the OpenAPI document', () => {
  it.each(callsOf())('names the statuses of the errors of $name', (named) => {
    for (const [tag, statuses] of errorStatuses(named, neutral)) {
      expect(statuses.length, tag).toBeGreaterThan(0);
      for (const status of statuses) expect(status >= 500 && !failures.includes(tag), tag).toBe(false);
    }
  });
});
