import { ok as okResult } from 'neverthrow';
import { describe, expect, test } from 'vitest';
import { sequentialIds } from '../../../adapters/memory/sequential-ids.js';
import { hostPrincipal } from '../../../src/access/principal.js';
import { createEngine } from '../../../src/engine.js';
import { configurations } from '../../../src/notifications/configurations/configuration.js';
import type { ConfigurationInput } from '../../../src/notifications/configurations/configuration-input.js';
import { queues } from '../../../src/notifications/queue/queue-record.js';
import { createNotificationConfiguration } from '../../../src/operations/notifications/configurations/create-notification-configuration.js';
import {
  listNotificationConfigurations,
  showNotificationConfiguration,
} from '../../../src/operations/notifications/configurations/list-notification-configurations.js';
import { deleteNotificationConfiguration } from '../../../src/operations/notifications/configurations/pause-and-delete-configuration.js';
import {
  enableNotificationConfiguration,
  updateNotificationConfiguration,
} from '../../../src/operations/notifications/configurations/update-notification-configuration.js';
import { verifyNotificationConfiguration } from '../../../src/operations/notifications/configurations/verify-notification-configuration.js';
import {
  putUser,
  putWorkspace,
  removeUser,
  removeWorkspace,
} from '../../../src/operations/notifications/workspaces/workspaces-and-users.js';

import { day, second } from '../../../src/shared/duration.js';
import {
  create,
  destination,
  must,
  mustFail,
  owner,
  publish,
  stranger,
  type TestEngine,
  testEngine,
  workspaceId,
  workspaceInput,
} from './engine-setup.js';

const list = (engine: TestEngine, page?: { number?: number; size?: number }) =>
  listNotificationConfigurations(engine, owner, {
    workspaceId,
    pageNumber: page?.number,
    pageSize: page?.size,
  });
const show = (engine: TestEngine, configurationId: string) =>
  showNotificationConfiguration(engine, owner, { configurationId });
const update = (engine: TestEngine, configurationId: string, attributes: ConfigurationInput) =>
  updateNotificationConfiguration(engine, owner, { configurationId, attributes });
const pointersOf = (error: { type: string; faults?: readonly { pointer: string }[] }): string[] =>
  (error.faults ?? []).map((fault) => fault.pointer);

describe('create', () => {
  test('enabled: verified, signed with the new token, saved with the response', async () => {
    const engine = await testEngine(
      {},
      { answer: { status: 200, headers: { 'Set-Cookie': 'a=1' }, body: '{"ok":1}' } },
    );
    const created = await must(create(engine));
    expect(created).toMatchObject({ enabled: true, destinationType: 'generic', url: destination, users: [] });
    expect(created.response).toEqual({
      url: destination,
      body: '{"ok":1}',
      code: '200',
      headers: { 'set-cookie': ['[redacted]'] },
      sentAt: '2026-01-01T00:00:00.000Z',
      successful: true,
    });
    expect(engine.delivery.requests).toHaveLength(1);
    const [request] = engine.delivery.requests;
    expect(JSON.parse(request?.body ?? '')).toMatchObject({ notification_configuration_id: created.id });
    expect(request?.headers['x-svc-notification-signature']).toMatch(/^[0-9a-f]{128}$/);
    expect(request?.totalTimeout).toBe(10 * second);
    expect(await must(show(engine, created.id))).toEqual({ ...created, index: expect.any(Number) });
  });

  test.each([
    ['a refusal', { status: 500, body: 'no' }, 'server_error'],
    ['a redirect', { status: 302 }, 'redirect'],
    ['silence', { error: 'connect_failed' as const }, 'connect_failed'],
  ])('%s saves nothing', async (_name, answer, cause) => {
    const engine = await testEngine({}, { answer });
    const error = await mustFail(create(engine));
    expect(error).toMatchObject({ type: 'verification_failed', cause });
    expect(JSON.stringify(error)).not.toContain('s3cr3t');
    expect((await must(list(engine))).items).toEqual([]);
  });

  test('disabled or e-mail: no request', async () => {
    const engine = await testEngine();
    const quiet = await must(create(engine, { enabled: false }));
    const mail = await must(
      createNotificationConfiguration(engine, owner, {
        workspaceId,
        attributes: {
          destinationType: 'email',
          name: 'm',
          enabled: true,
          users: { data: [{ type: 'users', id: 'user-1' }] },
        },
      }),
    );
    expect(engine.delivery.requests).toHaveLength(0);
    expect(quiet).toMatchObject({ enabled: false, response: null });
    expect(mail).toMatchObject({ enabled: true, url: null, users: ['user-1'], triggers: [] });
  });

  test('echoes spellings, removes repeated triggers across spellings, ignores members that do not apply', async () => {
    const engine = await testEngine();
    const chat = await must(
      create(engine, {
        destinationType: 'slack',
        users: [],
        emailAddresses: [],
        triggers: ['run:created', 'workspace:auto_destroy_reminder', 'run:created', 'workspace:auto_destro_reminder'],
      }),
    );
    expect(chat).toMatchObject({
      destinationType: 'slack',
      kind: 'chat-a',
      triggers: ['run:created', 'workspace:auto_destroy_reminder'],
    });
    const mail = await must(create(engine, { destinationType: 'email', users: ['user-1', 'user-1'] }));
    expect(mail).toMatchObject({ url: null, users: ['user-1'] });
  });

  test.each<[string, Record<string, unknown>, readonly string[]]>([
    ['nothing', {}, ['destination-type', 'name']],
    [
      'wrong types',
      { destinationType: 1, name: [], enabled: 'yes', token: 5, triggers: 'x', url: {}, users: 'u' },
      ['destination-type', 'name', 'enabled', 'token', 'triggers', 'url', '/users'],
    ],
    ['an unknown kind', { destinationType: 'pager', name: 'n' }, ['destination-type']],
    ['a built-in name as kind', { destinationType: 'toString', name: 'n' }, ['destination-type']],
    ['a blank name', { destinationType: 'email', name: '  ' }, ['name']],
    ['a long name', { destinationType: 'email', name: 'n'.repeat(256) }, ['name']],
    ['no URL', { destinationType: 'chat-b', name: 'n' }, ['url']],
    ['another scheme', { destinationType: 'generic', name: 'n', url: 'ftp://h' }, ['url']],
    ['no URL at all', { destinationType: 'generic', name: 'n', url: 'hooks' }, ['url']],
    ['a fragment', { destinationType: 'generic', name: 'n', url: 'https://h/#x' }, ['url']],
    ['a blank token', { destinationType: 'generic', name: 'n', url: destination, token: ' \n' }, ['token']],
    ...['whsec_', 'whsec_not base64', 'whsec_AAAA\n', 'whsec_-_-_', 'whsk_AAAA'].map(
      (token): [string, Record<string, unknown>, readonly string[]] => [
        `the token ${JSON.stringify(token)}`,
        { destinationType: 'generic', name: 'n', url: destination, token },
        ['token'],
      ],
    ),
    ['a forbidden host', { destinationType: 'generic', name: 'n', url: 'https://inside/' }, ['url']],
    ['a long URL', { destinationType: 'generic', name: 'n', url: `https://h/${'x'.repeat(4096)}` }, ['url']],
    [
      'an unknown trigger',
      { destinationType: 'email', name: 'n', triggers: ['run:created', 'verification'] },
      ['triggers/1'],
    ],
    ['a trigger that is no text', { destinationType: 'email', name: 'n', triggers: [null] }, ['triggers/0']],
    ['an unknown user', { destinationType: 'email', name: 'n', users: ['user-9'] }, ['/users']],
    [
      'something else than a user',
      { destinationType: 'email', name: 'n', users: { data: [{ type: 'teams', id: 'user-1' }] } },
      ['/users'],
    ],
    ['addresses', { destinationType: 'email', name: 'n', emailAddresses: ['a@b.c'] }, ['email-addresses']],
  ])('%s is refused at its pointer, without a request', async (_name, attributes, pointers) => {
    const engine = await testEngine({}, { refuse: (url) => (url.hostname === 'inside' ? 'private' : null) });
    const error = await mustFail(createNotificationConfiguration(engine, owner, { workspaceId, attributes }));
    expect(error.type).toBe('invalid_attributes');
    const expected = pointers.map((it) => (it === '/users' ? '/data/relationships/users' : `/data/attributes/${it}`));
    expect(pointersOf(error as never).sort()).toEqual(expected.sort());
    expect(engine.delivery.requests).toHaveLength(0);
  });

  test('faults of the transport are reported with the others, after the permission', async () => {
    const engine = await testEngine();
    const request = { workspaceId, attributes: {}, faults: [{ pointer: '/data/type', message: 'wrong' }] };
    const error = await mustFail(createNotificationConfiguration(engine, owner, request));
    expect(pointersOf(error as never)).toContain('/data/type');
    expect((await mustFail(createNotificationConfiguration(engine, stranger, request))).type).toBe('not_found');
  });

  test('20 at most, also when 50 come at once', async () => {
    let open: () => void = () => {};
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    const engine = await testEngine({}, { answer: async () => gate.then(() => ({ status: 204 })) });
    const creating = Array.from({ length: 50 }, (_, n) => create(engine, { name: `n${n}` }));
    await engine.clock.settle();
    expect(engine.delivery.requests).toHaveLength(50);
    open();
    const results = await Promise.all(creating);
    expect(results.filter((result) => result.isOk())).toHaveLength(20);
    for (const result of results) if (result.isErr()) expect(result.error.type).toBe('limit_reached');
    expect((await must(list(engine))).items).toHaveLength(20);
    engine.delivery.clear();
    expect((await mustFail(create(engine))).type).toBe('limit_reached');
    expect(engine.delivery.requests).toHaveLength(0);
  });
});

describe('update', () => {
  test('omitted members keep their values, null and empty clear the token', async () => {
    const engine = await testEngine();
    const created = await must(create(engine));
    await engine.clock.advance(1000);
    engine.delivery.clear();
    const same = await must(update(engine, created.id, {}));
    expect(same).toEqual({ ...created, updatedAt: '2026-01-01T00:00:01.000Z' });
    const renamed = await must(update(engine, created.id, { name: 'z', triggers: [] }));
    expect(renamed).toMatchObject({ name: 'z', triggers: [], enabled: true, url: destination });
    expect(engine.delivery.requests).toHaveLength(0);
    await must(update(engine, created.id, { token: '' }));
    expect(engine.delivery.requests).toHaveLength(1);
    expect(engine.delivery.requests[0]?.headers).not.toHaveProperty('x-svc-notification-signature');
  });

  test.each<[string, ConfigurationInput, boolean, number]>([
    ['enabled true probes', { enabled: true }, true, 1],
    ['enabled true probes a disabled one', { enabled: true }, false, 1],
    ['enabled false does not', { enabled: false, url: 'https://new.example' }, true, 0],
    ['a new URL probes while enabled', { url: 'https://new.example' }, true, 1],
    ['a new URL does not while disabled', { url: 'https://new.example' }, false, 0],
    ['the same URL does not', { url: destination }, true, 0],
    ['a rename does not', { name: 'n' }, true, 0],
  ])('%s', async (_name, attributes, enabled, requests) => {
    const engine = await testEngine();
    const created = await must(create(engine, { enabled }));
    engine.delivery.clear();
    await must(update(engine, created.id, attributes));
    expect(engine.delivery.requests).toHaveLength(requests);
    if (requests > 0) expect(engine.delivery.requests[0]?.url).toBe(attributes.url ?? destination);
  });

  test('always probes when asked to', async () => {
    const engine = await testEngine({ notifications: { verifyOnUpdate: 'always' } });
    const created = await must(create(engine));
    engine.delivery.clear();
    await must(update(engine, created.id, { name: 'n' }));
    expect(engine.delivery.requests).toHaveLength(1);
  });

  test('a failed verification changes nothing', async () => {
    const engine = await testEngine();
    const created = await must(create(engine, { enabled: false }));
    engine.delivery.answer({ status: 410 });
    const error = await mustFail(update(engine, created.id, { enabled: true, name: 'new', url: 'https://x.example' }));
    expect(error).toMatchObject({ type: 'verification_failed', cause: 'gone', response: { code: '410' } });
    expect(await must(show(engine, created.id))).toEqual({ ...created, index: expect.any(Number) });
    expect((await mustFail(enableNotificationConfiguration(engine, owner, { configurationId: created.id }))).type).toBe(
      'verification_failed',
    );
  });

  test('the kind stays, its other spelling is no change', async () => {
    const engine = await testEngine();
    const created = await must(create(engine, { destinationType: 'slack' }));
    expect(await must(update(engine, created.id, { destinationType: 'chat-a' }))).toMatchObject({
      destinationType: 'slack',
    });
    const error = await mustFail(update(engine, created.id, { destinationType: 'generic' }));
    expect(pointersOf(error as never)).toEqual(['/data/attributes/destination-type']);
  });

  test('users are kept or cleared when omitted, and those who left do not stand in the way', async () => {
    for (const omittedUsersOnUpdate of ['keep', 'clear'] as const) {
      const engine = await testEngine({ notifications: { omittedUsersOnUpdate } });
      const created = await must(create(engine, { destinationType: 'email', users: ['user-1', 'user-2'] }));
      await must(removeUser(engine, hostPrincipal, { userId: 'user-2' }));
      const renamed = await must(update(engine, created.id, { name: 'n' }));
      expect(renamed.users).toEqual(omittedUsersOnUpdate === 'keep' ? ['user-1'] : []);
      expect((await update(engine, created.id, { users: ['user-1', 'user-2'] })).isOk()).toBe(
        omittedUsersOnUpdate === 'keep',
      );
    }
  });

  test('what somebody else changes during the probe is not overwritten', async () => {
    const engine = await testEngine();
    const created = await must(create(engine, { enabled: false }));
    let open: () => void = () => {};
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    engine.delivery.answer(async (_request, n) => (n === 1 ? gate.then(() => ({ status: 204 })) : { status: 204 }));
    const enabling = update(engine, created.id, { enabled: true });
    await engine.clock.settle();
    await must(update(engine, created.id, { name: 'meanwhile' }));
    open();
    expect(await must(enabling)).toMatchObject({ enabled: true, name: 'meanwhile' });
    expect(engine.delivery.requests).toHaveLength(2);
  });

  test('a configuration deleted during the probe stays deleted', async () => {
    const engine = await testEngine();
    const created = await must(create(engine, { enabled: false }));
    const answers: (() => void)[] = [];
    engine.delivery.answer(async () => {
      await new Promise<void>((resolve) => answers.push(resolve));
      return { status: 204 };
    });
    const enabling = update(engine, created.id, { enabled: true });
    const verifying = verifyNotificationConfiguration(engine, owner, { configurationId: created.id });
    await engine.clock.settle();
    await must(deleteNotificationConfiguration(engine, owner, { configurationId: created.id }));
    for (const answer of answers) answer();
    expect((await mustFail(enabling)).type).toBe('not_found');
    expect((await mustFail(verifying)).type).toBe('not_found');
    expect((await must(list(engine))).items).toEqual([]);
  });

  test('an answer of a URL that was replaced during the probe says nothing about the new one', async () => {
    const engine = await testEngine();
    const created = await must(create(engine));
    engine.delivery.answer({ status: 500 });
    engine.start();
    await publish(engine);
    await engine.clock.advance(second);
    const told: string[] = [];
    engine.events.on('notification.destination', ({ change }) => told.push(change));
    const answers: (() => void)[] = [];
    engine.delivery.answer(async () => {
      await new Promise<void>((resolve) => answers.push(resolve));
      return { status: 204 };
    });
    const verifying = verifyNotificationConfiguration(engine, owner, { configurationId: created.id });
    await engine.clock.settle();
    await must(update(engine, created.id, { enabled: false, url: `${destination}/other` }));
    for (const answer of answers) answer();
    const verified = await must(verifying);
    expect(verified.response).toEqual(created.response);
    expect(verified.health.failingSince).not.toBeNull();
    expect(told).toEqual([]);
    await engine.stop();
  });

  test('two changes in a row during probes end in a conflict', async () => {
    const engine = await testEngine();
    const created = await must(create(engine, { enabled: false }));
    const answers: (() => void)[] = [];
    engine.delivery.answer(async () => {
      await new Promise<void>((resolve) => answers.push(resolve));
      return { status: 204 };
    });
    const enabling = update(engine, created.id, { enabled: true });
    for (const name of ['a', 'b']) {
      await engine.clock.settle();
      await must(update(engine, created.id, { name }));
      answers.pop()?.();
    }
    expect((await mustFail(enabling)).type).toBe('conflict');
    expect(await must(show(engine, created.id))).toMatchObject({ enabled: false, name: 'b' });
  });
});

describe('verify', () => {
  test('stores the answer whatever it is, and refuses one that is not 2xx', async () => {
    const engine = await testEngine();
    const created = await must(create(engine, { enabled: false, url: 'https://u:pw@hooks.example.net/secret' }));
    const verify = () => verifyNotificationConfiguration(engine, owner, { configurationId: created.id });
    expect(await must(verify())).toMatchObject({ enabled: false, response: { code: '204', successful: true } });
    engine.delivery.answer({ status: 500, body: 'broken' });
    const error = await mustFail(verify());
    expect(error).toMatchObject({ type: 'verification_failed', response: { code: '500', body: 'broken' } });
    expect(error.type === 'verification_failed' && error.message).not.toMatch(/secret|pw/);
    const stored = await must(show(engine, created.id));
    expect(stored.response).toMatchObject({ code: '500', successful: false, url: 'https://hooks.example.net/secret' });
    engine.delivery.answer({ error: 'total_timeout' });
    expect(await mustFail(verify())).toMatchObject({ type: 'verification_failed', response: null });
    expect(await must(show(engine, created.id))).toEqual(stored);
  });

  test('e-mail: a test mail to each present recipient', async () => {
    const engine = await testEngine();
    const created = await must(
      create(engine, { destinationType: 'email', users: ['user-1', 'user-2'], enabled: false }),
    );
    await must(removeUser(engine, hostPrincipal, { userId: 'user-2' }));
    const verify = () => verifyNotificationConfiguration(engine, owner, { configurationId: created.id });
    expect(await must(verify())).toMatchObject({ response: null, users: ['user-1'] });
    expect(engine.mailer.messages.map((mail) => mail.to)).toEqual(['user-1@example.org']);
    const failing = await testEngine(
      {},
      {
        mail: { fail: () => ({ type: 'mail_unavailable', message: 'down' }) },
      },
    );
    const other = await must(create(failing, { destinationType: 'email', users: ['user-1'] }));
    expect(
      await mustFail(verifyNotificationConfiguration(failing, owner, { configurationId: other.id })),
    ).toMatchObject({
      type: 'verification_failed',
      cause: 'mail_unavailable',
    });
  });
});

describe('list', () => {
  test('everything newest first without a page, pages with one', async () => {
    const engine = await testEngine();
    for (let n = 1; n <= 3; n++) {
      await must(create(engine, { name: `n${n}`, enabled: false }));
      await engine.clock.advance(10);
    }
    const all = await must(list(engine));
    expect(all.items.map((item) => item.name)).toEqual(['n3', 'n2', 'n1']);
    expect(all.pagination).toBeNull();
    expect(await must(list(engine, { size: 2 }))).toMatchObject({
      items: [{ name: 'n3' }, { name: 'n2' }],
      pagination: { currentPage: 1, pageSize: 2, prevPage: null, nextPage: 2, totalPages: 2, totalCount: 3 },
    });
    expect(await must(list(engine, { number: 999 }))).toEqual({
      items: [],
      pagination: { currentPage: 999, pageSize: 20, prevPage: null, nextPage: null, totalPages: 1, totalCount: 3 },
      index: expect.any(Number),
    });
    expect((await must(list(engine, { size: 1000 }))).pagination?.pageSize).toBe(100);
    for (const [page, parameter] of [
      [{ number: 0 }, 'page[number]'],
      [{ number: 1, size: 1.5 }, 'page[size]'],
      [{ number: Number.NaN }, 'page[number]'],
    ] as const) {
      expect(await mustFail(list(engine, page))).toMatchObject({ type: 'invalid_parameter', parameter });
    }
  });
});

describe('nobody learns of what he may not administer', () => {
  test('unknown and foreign look the same', async () => {
    const engine = await testEngine();
    const created = await must(create(engine));
    engine.delivery.clear();
    for (const caller of [stranger, { ...stranger, workspaces: { [workspaceId]: 'events' as const } }]) {
      for (const configurationId of [created.id, 'nonexisting']) {
        const request = { configurationId };
        for (const result of [
          await showNotificationConfiguration(engine, caller, request),
          await updateNotificationConfiguration(engine, caller, { configurationId, attributes: { enabled: 'x' } }),
          await verifyNotificationConfiguration(engine, caller, request),
          await deleteNotificationConfiguration(engine, caller, request),
        ]) {
          expect(result._unsafeUnwrapErr()).toEqual({
            type: 'not_found',
            resource: 'notification_configuration',
            id: configurationId,
          });
        }
      }
      const error = await mustFail(listNotificationConfigurations(engine, caller, { workspaceId }));
      expect(error.type).toBe('not_found');
    }
    expect(engine.delivery.requests).toHaveLength(0);
    await must(deleteNotificationConfiguration(engine, owner, { configurationId: created.id }));
    const again = await mustFail(deleteNotificationConfiguration(engine, owner, { configurationId: created.id }));
    expect(again.type).toBe('not_found');
  });

  test('workspaces and users are for management', async () => {
    const engine = await testEngine();
    const { id: _, ...workspace } = workspaceInput;
    expect((await mustFail(engine.as(owner).workspaces.put(workspaceId, workspace))).type).toBe('permission_denied');
    expect((await mustFail(engine.as(owner).workspaces.remove(workspaceId))).type).toBe('permission_denied');
    const faulty = { ...workspaceInput, id: 'a/b', name: '' };
    expect(pointersOf((await mustFail(putWorkspace(engine, hostPrincipal, faulty))) as never)).toEqual([
      '/data/id',
      '/data/attributes/name',
    ]);
    for (const [member, value] of [
      ['execution-mode', { executionMode: 'elsewhere' }],
      ['drift-detection', { driftDetection: 'false' }],
      ['health-assessments', { healthAssessments: 1 }],
      ['url', { url: 'javascript:alert(1)' }],
      ['url', { url: 5 }],
    ] as const) {
      const input = { ...workspaceInput, ...value } as never;
      expect(pointersOf((await mustFail(putWorkspace(engine, hostPrincipal, input))) as never)).toEqual([
        `/data/attributes/${member}`,
      ]);
    }
    const nameless = { id: 'user-9', username: ' ', email: 'a@b, c@d', organization: 'acme' };
    expect(pointersOf((await mustFail(putUser(engine, hostPrincipal, nameless))) as never)).toEqual([
      '/data/attributes/username',
      '/data/attributes/email',
    ]);
    // What the mailer would refuse for every mail.
    for (const email of [
      'a(b)@c.example',
      'a\0b@c.example',
      'a:b@c.example',
      '[a]@c.example',
      'a@b\\c',
      'a\ud800@c.example',
      `a@${'b'.repeat(254)}`,
    ]) {
      const user = { id: 'user-9', username: 'nine', email, organization: 'acme' };
      expect(pointersOf((await mustFail(putUser(engine, hostPrincipal, user))) as never)).toEqual([
        '/data/attributes/email',
      ]);
    }
    // Half of a character: no path can name it.
    const half = { ...workspaceInput, id: 'ws-\ud800', name: '\udc00', organization: 'a\ud800' };
    expect(pointersOf((await mustFail(putWorkspace(engine, hostPrincipal, half))) as never)).toEqual([
      '/data/id',
      '/data/attributes/name',
      '/data/attributes/organization',
    ]);
    const { id } = await must(create(engine, { enabled: false }));
    const told: unknown[] = [];
    engine.events.on('notification.configuration', (fact) => told.push(fact));
    await must(removeWorkspace(engine, hostPrincipal, { workspaceId }));
    expect((await mustFail(list(engine))).type).toBe('not_found');
    expect(told).toEqual([{ configurationId: id, workspaceId, change: 'deleted' }]);
  });
  test('a workspace that is removed and made again gets nothing of what waited before', async () => {
    const engine = await testEngine();
    await must(create(engine));
    engine.delivery.clear();
    engine.delivery.answer({ status: 503 });
    engine.start();
    for (let n = 0; n < 5; n += 1) await publish(engine, { runId: `old-${n % 2}` });
    await engine.clock.advance(second);
    await must(removeWorkspace(engine, hostPrincipal, { workspaceId }));
    await must(putWorkspace(engine, hostPrincipal, workspaceInput));
    engine.delivery.answer({ status: 204 });
    await must(create(engine));
    engine.delivery.clear();
    await publish(engine, { runId: 'new' });
    await engine.clock.advance(day);
    expect(engine.delivery.requests.map(({ body }) => JSON.parse(body).run_id)).toEqual(['new']);
    expect(await must(engine.storage.read((view) => view.list(queues).length))).toBe(1);
    await engine.stop();
  });
});

test('secrets rest sealed when there is a cipher', async () => {
  const cipher = {
    seal: (plain: string) => Buffer.from(plain).toString('hex'),
    open: (sealed: string) => okResult(Buffer.from(sealed, 'hex').toString()),
  };
  const engine = await testEngine({}, { ports: { cipher } });
  const created = await must(create(engine));
  expect(created.url).toBe(destination);
  const texts = await must(engine.storage.read((view) => view.list(configurations).map((row) => row.text)));
  expect(texts.join()).not.toMatch(/hooks\.example|s3cr3t/);
});

describe('secrets that this process cannot decrypt', () => {
  const cipher = {
    seal: (plain: string) => Buffer.from(plain).toString('hex'),
    open: (sealed: string) => okResult(Buffer.from(sealed, 'hex').toString()),
  };
  const delivery = { headers: { 'x-key': 'k3y' }, authentication: { type: 'bearer', token: 't' }, rate: 1 } as const;
  const sealed = async () => {
    const engine = await testEngine({}, { ports: { cipher } });
    const { storage, clock } = engine;
    const { id: configurationId } = await must(create(engine, { delivery }));
    const without = createEngine({ storage, clock, ids: sequentialIds(), delivery: engine.delivery });
    engine.delivery.clear();
    const change = (attributes: ConfigurationInput) =>
      updateNotificationConfiguration(without, hostPrincipal, { configurationId, attributes });
    const stored = () => must(storage.read((view) => view.get(configurations, [configurationId])?.record));
    return { engine, change, stored };
  };
  const all = { headers: { a: 'b' }, authentication: null, clientCertificate: null };

  test.each<[string, ConfigurationInput]>([
    ['enabling', { enabled: true }],
    ['a URL alone', { url: `${destination}/other` }],
    ['a token alone', { token: 'new' }],
    ['options alone', { delivery: all }],
  ])('%s is not verified without them, and not saved', async (_name, attributes) => {
    const { engine, change, stored } = await sealed();
    const before = await stored();
    expect(await mustFail(change(attributes))).toMatchObject({ cause: 'secret_unreadable' });
    expect(engine.delivery.requests).toEqual([]);
    expect(await stored()).toEqual(before);
  });

  test('a part of the secret options cannot be changed: the others would be lost', async () => {
    const { change, stored } = await sealed();
    const before = await stored();
    for (const attributes of [{ delivery: { headers: { a: 'b' } } }, { enabled: false, delivery: { headers: null } }]) {
      expect(pointersOf((await mustFail(change(attributes as never))) as never)).toEqual(['/data/attributes/delivery']);
    }
    expect(await stored()).toEqual(before);
  });

  test('are cleared when a change says so', async () => {
    const { change, stored } = await sealed();
    await must(change({ enabled: false, token: null }));
    expect((await stored())?.token).toBeNull();
    await must(change({ delivery: { headers: null, authentication: null, clientCertificate: null } }));
    expect((await stored())?.options).toMatchObject({ rate: 1, secrets: null });
  });

  test('are replaced by a change that states them all', async () => {
    const { engine, change } = await sealed();
    await must(change({ url: destination, token: 'new', delivery: all }));
    expect(engine.delivery.requests.map(({ headers }) => headers['a'])).toEqual(['b']);
  });
});

test('a change of other options keeps secret ones that this process cannot decrypt', async () => {
  const cipher = {
    seal: (plain: string) => Buffer.from(plain).toString('hex'),
    open: (sealed: string) => okResult(Buffer.from(sealed, 'hex').toString()),
  };
  const engine = await testEngine({}, { ports: { cipher } });
  const { storage, clock, delivery } = engine;
  const { id } = await must(create(engine, { delivery: { headers: { 'x-key': 'k3y' }, rate: 1 } }));
  const without = createEngine({ storage, clock, ids: sequentialIds(), delivery });
  const change = (attributes: ConfigurationInput) =>
    must(updateNotificationConfiguration(without, hostPrincipal, { configurationId: id, attributes }));
  const before = delivery.requests.length;
  const unverified = await mustFail(verifyNotificationConfiguration(without, owner, { configurationId: id }));
  expect(unverified).toMatchObject({
    cause: 'secret_unreadable',
    message: 'The verification request was not sent: the URL or a secret of the configuration cannot be decrypted',
  });
  expect(delivery.requests).toHaveLength(before);
  await change({ delivery: { rate: 5 } });
  await must(verifyNotificationConfiguration(engine, hostPrincipal, { configurationId: id }));
  expect(delivery.requests.at(-1)?.headers['x-key']).toBe('k3y');
  // Without any options there are no secret ones either.
  await change({ delivery: null });
  await must(verifyNotificationConfiguration(engine, hostPrincipal, { configurationId: id }));
  expect(delivery.requests.at(-1)?.headers['x-key']).toBeUndefined();
});
