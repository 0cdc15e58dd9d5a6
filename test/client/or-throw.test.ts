import { err, ok } from 'neverthrow';
import { expect, test } from 'vitest';
import { orThrow, SignalboxError } from '../../src/client/index.js';

const messageOf = (error: { readonly type: string }): string => new SignalboxError(error).message;

test('an error as an exception says what, where, and keeps the error as its cause', () => {
  const faults = [
    { pointer: '/data/attributes/url', message: 'Url is not allowed' },
    { pointer: '/data/attributes/name', message: 'Name is missing' },
  ];
  expect(messageOf({ type: 'conflict', message: 'It was changed' } as { type: string })).toBe('It was changed');
  expect(messageOf({ type: 'invalid_attributes', faults } as { type: string })).toBe(
    '/data/attributes/url: Url is not allowed; /data/attributes/name: Name is missing',
  );
  expect(messageOf({ type: 'permission_denied' })).toBe('permission denied');
  const error = { type: 'not_found', resource: 'notification_configuration', id: 'nc-1' };
  expect(() => orThrow(err(error))).toThrow(expect.objectContaining({ type: 'not_found', cause: error }));
  expect(orThrow(ok(7))).toBe(7);
});

test('an error about something that is not there names it', () => {
  const missing = (more: object) => messageOf({ type: 'not_found', ...more });
  expect(missing({ resource: 'notification_configuration', id: 'nc-1' })).toBe(
    'there is no notification configuration nc-1, or the caller may not see it',
  );
  expect(missing({ resource: 'workspace', id: 'ws-nix' })).toBe(
    'there is no workspace ws-nix, or the caller may not see it',
  );
  expect(missing({})).toBe('not found');
});
