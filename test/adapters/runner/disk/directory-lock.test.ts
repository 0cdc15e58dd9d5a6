import { expect, it } from 'vitest';
import { lockDirectory } from '../../../../adapters/runner/disk/directory-lock.js';

it('a directory that cannot be used is named, whatever the system says', () => {
  const refused = lockDirectory('/dev/null', 'token')._unsafeUnwrapErr();
  expect(refused).toMatchObject({
    type: 'directory_unusable',
    message: expect.stringContaining('the directory /dev/null cannot be used: ENOTDIR'),
  });
});
