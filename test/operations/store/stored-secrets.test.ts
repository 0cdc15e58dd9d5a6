import { errAsync, okAsync } from 'neverthrow';
import { describe, expect, test } from 'vitest';
import { memoryStorage } from '../../../adapters/memory/memory-storage.js';
import { sequentialIds } from '../../../adapters/memory/sequential-ids.js';
import { aesCipher } from '../../../adapters/node/aes-cipher.js';
import { hostPrincipal as host } from '../../../src/access/principal.js';
import { tokens } from '../../../src/access/tokens.js';
import { configurations } from '../../../src/notifications/configurations/configuration.js';
import { readToken } from '../../../src/operations/access/tokens/read-token.js';
import { saveToken } from '../../../src/operations/access/tokens/save-token.js';
import { showNotificationConfiguration } from '../../../src/operations/notifications/configurations/list-notification-configurations.js';
import { updateNotificationConfiguration } from '../../../src/operations/notifications/configurations/update-notification-configuration.js';
import { checkStoredSecrets, resealStoredSecrets } from '../../../src/operations/store/stored-secrets.js';
import { readVariable } from '../../../src/operations/variables/read-variables.js';
import { putVariable } from '../../../src/operations/variables/write-variable.js';

import type { Cipher } from '../../../src/ports/cipher.js';
import type { Storage } from '../../../src/ports/storage.js';
import { storageFailure } from '../../../src/storage/records.js';
import { variables } from '../../../src/variables/variable.js';
import { create, destination, must, owner, publish, testEngine } from '../notifications/engine-setup.js';

const key = (id: string, byte: number) => ({ id, key: Buffer.alloc(32, byte) });
const [first, second] = [key('k1', 1), key('k2', 2)];
const onlyFirst = aesCipher({ keys: [first], current: 'k1' });
const both = aesCipher({ keys: [second, first], current: 'k2' });
const onlySecond = aesCipher({ keys: [second], current: 'k2' });

/** One ID for each record, also when several engines write to one storage. */
const ids = sequentialIds();
const engineOn = (storage: Storage, cipher?: Cipher) =>
  testEngine({}, { ports: { storage, ids, ...(cipher === undefined ? {} : { cipher }) } });

/** Every row with a secret, as text. */
async function stored(storage: Storage): Promise<string> {
  const rows = await must(
    storage.read((view) => [...view.list(configurations), ...view.list(variables), ...view.list(tokens)]),
  );
  return JSON.stringify(rows);
}

/** A configuration with every text that is sealed, a variable and a token. */
async function filled(storage: Storage, cipher?: Cipher) {
  const engine = await engineOn(storage, cipher);
  const delivery = { headers: { 'x-key': 'header-secret' }, rotationGrace: 3_600_000 };
  const { id: configurationId } = await must(create(engine, { delivery }));
  await must(
    updateNotificationConfiguration(engine, owner, { configurationId, attributes: { token: 'newer-s3cr3t' } }),
  );
  await must(putVariable(engine, host, { path: 'app/db', items: { password: 'item-secret' } }));
  const token = await must(saveToken(engine, host, { name: 'ci', type: 'client', policies: ['read'] }));
  return { configurationId, accessor: token.AccessorID, secret: token.SecretID };
}
const secrets = [destination, 's3cr3t-token', 'newer-s3cr3t', 'header-secret', 'item-secret'];

describe('secrets at rest', () => {
  test('what was stored without a cipher is sealed', async () => {
    const storage = memoryStorage();
    const { configurationId } = await filled(storage);
    for (const secret of secrets) expect(await stored(storage)).toContain(secret);
    const engine = await engineOn(storage, onlyFirst);
    expect(await must(checkStoredSecrets(engine))).toEqual({ unreadable: 0, example: null, outdated: 2 });
    const before = (await must(readVariable(engine, host, { path: 'app/db' }))).value;
    expect(await must(resealStoredSecrets(engine))).toBe(2);
    for (const secret of secrets) expect(await stored(storage)).not.toContain(secret);
    expect(await must(checkStoredSecrets(engine))).toEqual({ unreadable: 0, example: null, outdated: 0 });
    expect((await must(readVariable(engine, host, { path: 'app/db' }))).value).toEqual(before);
    const shown = await must(showNotificationConfiguration(engine, owner, { configurationId }));
    expect(shown.url).toBe(destination);
    engine.start();
    await publish(engine);
    await engine.clock.settle();
    expect(engine.delivery.requests.at(-1)?.headers).toMatchObject({ 'x-key': 'header-secret' });
    await engine.stop();
  });

  test('after a rotation the old key is not needed', async () => {
    const storage = memoryStorage();
    const { accessor, secret } = await filled(storage, onlyFirst);
    const rotating = await engineOn(storage, both);
    expect(await must(checkStoredSecrets(rotating))).toEqual({ unreadable: 0, example: null, outdated: 3 });
    expect(await must(resealStoredSecrets(rotating))).toBe(3);
    expect(await must(resealStoredSecrets(rotating))).toBe(0);
    expect(await stored(storage)).not.toContain('v1.k1.');
    const engine = await engineOn(storage, onlySecond);
    expect(await must(checkStoredSecrets(engine))).toEqual({ unreadable: 0, example: null, outdated: 0 });
    expect((await must(readVariable(engine, host, { path: 'app/db' }))).value?.Items).toEqual({
      password: 'item-secret',
    });
    expect((await must(readToken(engine, host, { accessor }))).value?.SecretID).toBe(secret);
  });

  test('a missing key is noticed before anything is lost, and nothing is written', async () => {
    const storage = memoryStorage();
    const { configurationId } = await filled(storage, onlyFirst);
    for (const cipher of [undefined, onlySecond]) {
      const engine = await engineOn(storage, cipher);
      expect(await must(checkStoredSecrets(engine))).toEqual({ unreadable: 2, example: configurationId, outdated: 0 });
      const before = await stored(storage);
      expect(await must(resealStoredSecrets(engine))).toBe(0);
      expect(await stored(storage)).toBe(before);
    }
  });

  test('a variable alone is noticed, by its path and not by its content', async () => {
    const storage = memoryStorage();
    const engine = await engineOn(storage, onlyFirst);
    await must(putVariable(engine, host, { path: 'app/db', items: { password: 'item-secret' } }));
    expect(await must(checkStoredSecrets(await engineOn(storage, onlySecond)))).toEqual({
      unreadable: 1,
      example: 'variable app/db in namespace default',
      outdated: 0,
    });
  });

  test('a cipher that does not tell the current key leaves sealed texts as they are', async () => {
    const storage = memoryStorage();
    await filled(storage, onlyFirst);
    const engine = await engineOn(storage, { seal: both.seal, open: both.open });
    expect(await must(checkStoredSecrets(engine))).toEqual({ unreadable: 0, example: null, outdated: 0 });
    expect(await must(resealStoredSecrets(engine))).toBe(0);
  });

  test('what was replaced is overwritten by the call that follows an interrupted one', async () => {
    const memory = memoryStorage();
    await filled(memory);
    let answers: ('io' | 'done')[] = ['io', 'done'];
    const storage: Storage = {
      ...memory,
      overwriteRemoved: () => {
        const [answer, ...rest] = answers;
        answers = rest;
        return answer === 'done' ? okAsync(undefined) : errAsync(storageFailure('io', 'the disk is gone'));
      },
    };
    const engine = await engineOn(storage, onlyFirst);
    expect((await resealStoredSecrets(engine))._unsafeUnwrapErr().message).toBe('the disk is gone');
    for (const secret of secrets) expect(await stored(storage)).not.toContain(secret);
    expect(await must(checkStoredSecrets(engine))).toMatchObject({ outdated: 1 });
    expect(await must(resealStoredSecrets(engine))).toBe(0);
    expect(answers).toEqual([]);
    expect(await must(checkStoredSecrets(engine))).toMatchObject({ outdated: 0 });
    await must(resealStoredSecrets(engine));
  });

  test('more records than one piece has', async () => {
    const storage = memoryStorage();
    const plain = await engineOn(storage);
    for (let n = 0; n < 250; n += 1) await must(putVariable(plain, host, { path: `app/${n}`, items: { n: `${n}` } }));
    const engine = await engineOn(storage, onlyFirst);
    expect(await must(checkStoredSecrets(engine))).toMatchObject({ outdated: 250 });
    expect(await must(resealStoredSecrets(engine))).toBe(250);
    expect(await must(checkStoredSecrets(engine))).toMatchObject({ unreadable: 0, outdated: 0 });
  });
});
