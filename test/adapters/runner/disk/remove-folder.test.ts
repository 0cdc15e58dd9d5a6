import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { removeFolder } from '../../../../adapters/runner/disk/remove-folder.js';
import { asAnotherUser } from '../../../support/another-user.js';

let folder = '';
afterEach(() => rmSync(folder, { recursive: true, force: true }));

it('a folder goes whatever rights a task has taken from it, and nothing that its links lead to', async () => {
  await asAnotherUser(async () => {
    folder = mkdtempSync(join(tmpdir(), 'signalbox-remove-'));
    const [removed, other] = [join(folder, 'removed'), join(folder, 'other')];
    mkdirSync(join(removed, 'locked', 'below'), { recursive: true });
    mkdirSync(other);
    writeFileSync(join(removed, 'locked', 'below', 'file'), '');
    symlinkSync(other, join(removed, 'locked', 'link'));
    chmodSync(other, 0o500);
    for (const name of ['locked/below', 'locked', '.']) chmodSync(join(removed, name), 0o000);
    await removeFolder(removed);
    expect(existsSync(removed)).toBe(false);
    expect(statSync(other).mode & 0o777).toBe(0o500);
    await removeFolder(removed);
  });
});
