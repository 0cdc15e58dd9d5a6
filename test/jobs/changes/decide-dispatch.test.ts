import { describe, expect, test } from 'vitest';
import { checkDispatch, type DispatchRequest } from '../../../src/jobs/changes/decide-dispatch.js';
import type { JobInput } from '../../../src/jobs/document/submitted-job.js';
import { canonicalJob } from '../canonical-job.js';

const plain: DispatchRequest = { payload: null, meta: null, idPrefixTemplate: '', idempotencyToken: '', priority: 0 };

function parent(part: JobInput = {}) {
  return canonicalJob({
    ID: 'import',
    Type: 'batch',
    ParameterizedJob: { MetaOptional: ['source', 'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'] },
    TaskGroups: [{ Name: 'g', Tasks: [{ Name: 't', Driver: 'raw_exec' }] }],
    ...part,
  });
}

function refusal(request: Partial<DispatchRequest>, job = parent()) {
  const checked = checkDispatch(job, { ...plain, ...request }, { maximumDispatchPayloadBytes: 16_384 });
  return checked.isOk() ? undefined : checked.error;
}

describe('the payload', () => {
  const base64 = (bytes: number) => Buffer.alloc(bytes, 7).toString('base64');

  test('of exactly the maximum is accepted, of one byte more is refused', () => {
    expect(refusal({ payload: base64(16_384) })).toBeUndefined();
    expect(refusal({ payload: base64(16_385) })).toMatchObject({
      reason: 'payload_too_large',
      message: 'Payload exceeds maximum size; 16385 > 16384',
    });
  });
});

describe('meta that no instance could start with', () => {
  test('ordinary meta is fine', () => {
    expect(refusal({ meta: { source: 'file', a: '', b: 'x'.repeat(100_000) } })).toBeUndefined();
  });

  test('a NUL', () => {
    expect(refusal({ meta: { source: 'a\0b' } })).toMatchObject({
      type: 'invalid_request',
      field: 'Meta',
      message: 'Meta: the value of "source" must not contain NUL',
    });
  });

  test('a value that no variable can hold', () => {
    expect(refusal({ meta: { source: 'x'.repeat(131_072) } })?.message).toContain('longer than 131071 bytes');
  });

  test('more than a process can be given, with what the job gives it', () => {
    const meta = Object.fromEntries(['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((key) => [key, 'x'.repeat(130_000)]));
    expect(refusal({ meta })).toBeUndefined();
    expect(refusal({ meta }, parent({ Meta: { more: 'x'.repeat(110_000) } }))).toMatchObject({
      type: 'invalid_request',
      message: expect.stringContaining('with it, arguments, environment and meta take'),
    });
  });
});

describe('prefixes of the new ID', () => {
  test.each(['nightly', 'a/b c', 'ünï'])('%s', (idPrefixTemplate) => {
    expect(refusal({ idPrefixTemplate })).toBeUndefined();
  });

  test.each(['a\0', '\ud83d', 'x/../y', 'p'.repeat(8_000)])(
    '%j makes none that can be addressed',
    (idPrefixTemplate) => {
      expect(refusal({ idPrefixTemplate })).toMatchObject({ type: 'invalid_request', field: 'IdPrefixTemplate' });
    },
  );
});
