import { describe, expect, it } from 'vitest';
import { manualClock, memoryStorage, recordingDelivery, sequentialIds } from '../../../adapters/memory/index.js';
import { oneTimeTokens } from '../../../src/access/tokens.js';
import { createEngine, type Engine, hostPrincipal, type Principal } from '../../../src/index.js';
import { listOwnPolicies, putPolicy } from '../../../src/operations/access/policies.js';
import { tokenAuthenticator } from '../../../src/operations/access/tokens/authenticate-token.js';
import {
  createOneTimeToken,
  exchangeOneTimeToken,
  openBySecret,
  sealBySecret,
} from '../../../src/operations/access/tokens/one-time-token.js';
import { putToken } from '../../../src/operations/access/tokens/put-token.js';
import { removeToken, saveToken } from '../../../src/operations/access/tokens/save-token.js';
import { minute } from '../../../src/shared/duration.js';

const start = Date.parse('2030-01-01T00:00:00Z');
const denied = { type: 'permission_denied' };

function engineAt() {
  const clock = manualClock(start);
  const ports = { storage: memoryStorage(), clock, ids: sequentialIds(), delivery: recordingDelivery({ clock }) };
  return { engine: createEngine(ports), clock };
}

async function holderOf(engine: Engine, secret: string): Promise<Principal> {
  const holder = (await tokenAuthenticator(engine)(secret))._unsafeUnwrap();
  if (holder === undefined) throw new Error('nobody has this secret');
  return holder;
}

async function signedIn(engine: Engine, name = 'ada') {
  const { secret, token } = (await putToken(engine, hostPrincipal, { name, policies: ['p'] }))._unsafeUnwrap();
  return { secret, accessor: token.accessor, holder: await holderOf(engine, secret) };
}

async function made(engine: Engine, holder: Principal) {
  return (await createOneTimeToken(engine, holder))._unsafeUnwrap().value;
}

const exchanged = (engine: Engine, secret: string) => exchangeOneTimeToken(engine, hostPrincipal, { secret });

async function storedAccessors(engine: Engine): Promise<readonly string[]> {
  return (
    await engine.storage.read((view) => view.list(oneTimeTokens).map(({ record }) => record.accessor))
  )._unsafeUnwrap();
}

describe('a one-time token', () => {
  it('is exchanged for the token that made it, with its secret, once', async () => {
    const { engine } = engineAt();
    const { secret, accessor, holder } = await signedIn(engine);
    const oneTime = await made(engine, holder);
    expect(oneTime).toMatchObject({ AccessorID: accessor, ExpiresAt: '2030-01-01T00:10:00.000Z' });
    const { value } = (await exchanged(engine, oneTime.OneTimeSecretID))._unsafeUnwrap();
    expect(value).toMatchObject({ AccessorID: accessor, SecretID: secret, Policies: ['p'] });
    expect((await exchanged(engine, oneTime.OneTimeSecretID))._unsafeUnwrapErr()).toEqual(denied);
    expect(await storedAccessors(engine)).toEqual([]);
  });

  it('is stored without either secret', async () => {
    const { engine } = engineAt();
    const { secret, holder } = await signedIn(engine);
    const oneTime = await made(engine, holder);
    const stored = (
      await engine.storage.read((view) => view.list(oneTimeTokens).map(({ text }) => text))
    )._unsafeUnwrap();
    expect(stored.join()).not.toContain(secret);
    expect(stored.join()).not.toContain(oneTime.OneTimeSecretID);
  });

  it('is replaced by the next one of the same token', async () => {
    const { engine } = engineAt();
    const { accessor, holder } = await signedIn(engine);
    const first = await made(engine, holder);
    const second = await made(engine, holder);
    expect((await exchanged(engine, first.OneTimeSecretID))._unsafeUnwrapErr()).toEqual(denied);
    expect((await exchanged(engine, second.OneTimeSecretID))._unsafeUnwrap().value.AccessorID).toBe(accessor);
  });

  it('is worth nothing after ten minutes, and goes with the next one that anybody makes', async () => {
    const { engine, clock } = engineAt();
    const ada = await signedIn(engine);
    const oneTime = await made(engine, ada.holder);
    await clock.advance(10 * minute);
    expect((await exchanged(engine, oneTime.OneTimeSecretID))._unsafeUnwrapErr()).toEqual(denied);
    expect(await storedAccessors(engine)).toEqual([ada.accessor]);
    const bob = await signedIn(engine, 'bob');
    await made(engine, bob.holder);
    expect(await storedAccessors(engine)).toEqual([bob.accessor]);
  });

  it('is worth nothing once its token has gone, or has expired', async () => {
    const { engine, clock } = engineAt();
    const gone = await signedIn(engine);
    const ofGone = await made(engine, gone.holder);
    await removeToken(engine, hostPrincipal, { accessor: gone.accessor });
    expect((await exchanged(engine, ofGone.OneTimeSecretID))._unsafeUnwrapErr()).toEqual(denied);
    expect((await createOneTimeToken(engine, gone.holder))._unsafeUnwrapErr()).toEqual(denied);

    const input = { name: 'short', type: 'client', policies: ['p'], lifetime: minute };
    const short = (await saveToken(engine, hostPrincipal, input))._unsafeUnwrap();
    const ofShort = await made(engine, await holderOf(engine, short.SecretID));
    await clock.advance(minute);
    expect((await exchanged(engine, ofShort.OneTimeSecretID))._unsafeUnwrapErr()).toEqual(denied);
  });

  it('is made by nobody who presented no secret', async () => {
    const { engine } = engineAt();
    expect((await createOneTimeToken(engine, hostPrincipal))._unsafeUnwrapErr()).toEqual(denied);
    expect((await exchanged(engine, 'unknown'))._unsafeUnwrapErr()).toEqual(denied);
  });
});

it('what is sealed by a secret opens with that secret only, unchanged', () => {
  const sealed = sealBySecret('plain', 'one');
  expect(openBySecret(sealed, 'one')).toBe('plain');
  expect(openBySecret(sealed, 'other')).toBeUndefined();
  expect(openBySecret(`${sealed.slice(0, -4)}AAAA`, 'one')).toBeUndefined();
  expect(openBySecret('', 'one')).toBeUndefined();
});

describe('a token that is brought along', () => {
  const accessor = '11111111-0000-4000-8000-000000000000';
  const secret = '22222222-0000-4000-8000-000000000000';
  const brought = { accessor, secret, name: 'ci', type: 'client', policies: ['p'] };

  it('is made with its accessor and secret, and keeps the secret when it is changed', async () => {
    const { engine } = engineAt();
    expect((await saveToken(engine, hostPrincipal, brought))._unsafeUnwrap()).toMatchObject({
      AccessorID: accessor,
      SecretID: secret,
    });
    expect((await holderOf(engine, secret)).accessor).toBe(accessor);
    const other = '33333333-0000-4000-8000-000000000000';
    expect((await saveToken(engine, hostPrincipal, { ...brought, secret: other, name: 'x' })).isOk()).toBe(true);
    expect((await holderOf(engine, secret)).name).toBe('x');
  });

  it.each([
    [{ type: 'management', policies: [] }, 'a management token cannot be uploaded'],
    [{ secret: 'short' }, 'the accessor and the secret of an uploaded token must be UUIDs'],
    [{ accessor: 'short' }, 'the accessor and the secret of an uploaded token must be UUIDs'],
    [{ type: 'node', policies: [] }, `cannot find token ${accessor}`],
  ])('%j is refused', async (changed, message) => {
    const { engine } = engineAt();
    const refused = await saveToken(engine, hostPrincipal, { ...brought, ...changed });
    expect(refused._unsafeUnwrapErr()).toMatchObject({ type: 'invalid_access', message });
  });

  it('may not have the secret of another token', async () => {
    const { engine } = engineAt();
    await putToken(engine, hostPrincipal, { name: 'first', secret });
    const refused = await saveToken(engine, hostPrincipal, brought);
    expect(refused._unsafeUnwrapErr()).toMatchObject({
      message: 'the secret of an uploaded token belongs to another token',
    });
  });
});

it('callers list the policies of their own token', async () => {
  const { engine } = engineAt();
  for (const name of ['a', 'p']) {
    await putPolicy(engine, hostPrincipal, { name, rules: 'node { policy = "read" }' });
  }
  const { holder } = await signedIn(engine);
  const { value } = (await listOwnPolicies(engine, holder))._unsafeUnwrap();
  expect(value.map(({ Name }) => Name)).toEqual(['p']);
  expect((await listOwnPolicies(engine, hostPrincipal))._unsafeUnwrap().value).toEqual([]);
});
