import { readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import { describe, expect, it } from 'vitest';
import { parseServeOptions } from '../../../../adapters/cli/serve/serve-options.js';
import { settingsSchema } from '../../../../adapters/cli/settings/config-command.js';
import { durationText } from '../../../../adapters/cli/settings/kind.js';
import {
  misspelledVariables,
  resolveSettings,
  type SettingSources,
} from '../../../../adapters/cli/settings/resolve-settings.js';
import { variableOf } from '../../../../adapters/cli/settings/setting.js';
import { settingTable } from '../../../../adapters/cli/settings/setting-table.js';
import { defaultSettings, settingsFrom } from '../../../../src/index.js';

const path = '/etc/box/signalbox.json';
const rate = 'notifications.delivery.rate.generic';

function resolved(sources: Partial<SettingSources>) {
  return resolveSettings({ flags: [], environment: {}, file: null, ...sources });
}

function faultsOf(content: unknown): readonly string[] {
  return resolved({ file: { path, content } })._unsafeUnwrapErr();
}

/** Keys of the leaves of a record; lists and null are leaves. */
function leaves(record: object, prefix = ''): string[] {
  return Object.entries(record).flatMap(([name, value]) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? leaves(value as object, `${prefix}${name}.`)
      : [prefix + name],
  );
}

describe('the table of settings', () => {
  it('has every setting of the engine, but what the server decides itself', () => {
    const own = ['notifications.publicOrigin', 'notifications.basePath', 'notifications.hints.mailer'];
    const others = [...own, 'notifications.names', 'runNotifications', 'jobs.policies', 'jobs.quotas'];
    const keys = settingTable.filter(({ ofEngine }) => ofEngine === true).map(({ key }) => key);
    expect(keys.sort()).toEqual(
      leaves(defaultSettings)
        .filter((key) => !others.includes(key))
        .sort(),
    );
  });

  it('names each variable once', () => {
    const names = settingTable.map(({ key }) => variableOf(key));
    expect(new Set(names).size).toBe(names.length);
    expect(names).toContain('SIGNALBOX_NOTIFICATIONS_DELIVERY_CONCURRENCY_PER_ORIGIN');
  });

  it('reads back each default as it prints it', () => {
    for (const { key, kind, default: value } of settingTable) {
      if (value === undefined) continue;
      expect(kind.fromJson(kind.toJson(value))._unsafeUnwrap(), key).toEqual(value);
    }
  });
});

describe('resolveSettings', () => {
  it('takes the flag before the environment, that before the file, that before the default', () => {
    const file = { path, content: { notifications: { delivery: { rate: { generic: 1 } } } } };
    const environment = { SIGNALBOX_NOTIFICATIONS_DELIVERY_RATE_GENERIC: '2' };
    const flags = [{ key: rate, flag: `--set ${rate}`, text: '3.5' }];
    const found = (sources: Partial<SettingSources>) => {
      const { value, source } = resolved(sources)._unsafeUnwrap().get(rate) ?? {};
      return [value, source];
    };
    expect(found({})).toEqual([0, 'default']);
    expect(found({ file })).toEqual([1, path]);
    expect(found({ file, environment })).toEqual([2, 'SIGNALBOX_NOTIFICATIONS_DELIVERY_RATE_GENERIC']);
    expect(found({ file, environment, flags })).toEqual([3.5, `--set ${rate}`]);
    expect(found({ environment: { SIGNALBOX_NOTIFICATIONS_DELIVERY_RATE_GENERIC: '' } })).toEqual([0, 'default']);
  });

  it.each([
    [{ lisen: 'x' }, /at the top level: unknown setting "lisen"; did you mean listen\?$/],
    [{ allowhosts: [] }, /did you mean allowHosts\?/],
    [{ standardWebhooks: true }, /did you mean notifications.signature.standardWebhooks\?/],
    [{ notifications: { delivery: { rates: {} } } }, /at \/notifications\/delivery: .* "rates"; did you mean rate\?/],
    [{ notifications: 1 }, /at \/notifications: expected an object/],
    [[], /at the top level: expected an object/],
    [null, /at the top level: expected an object/],
    [{ __proto__: 1, constructor: {} }, /"constructor"/],
    [{ 'jobs.region': 'x' }, /unknown setting "jobs.region"/],
    [{ listen: 4646 }, /at \/listen: it takes HOST:PORT/],
    [{ runner: 'true' }, /at \/runner: it takes true or false/],
    [{ allowOutbound: ['10.0.0.0/8', '10.0.0.0'] }, /at \/allowOutbound\/1: it takes address ranges/],
    [{ allowOutbound: '10.0.0.0/8' }, /at \/allowOutbound: it takes address ranges .* \(in the file, a list\)/],
    [{ notifications: { delivery: { retry: { generic: ['5s', 5] } } } }, /retry\/generic\/1: it takes a duration/],
    [{ notifications: { retention: { dead: '0s' } } }, /at \/notifications\/retention\/dead: it takes a duration/],
    [{ notifications: { delivery: { jitter: 1.5 } } }, /it takes a number from 0 to 1, not 1\.5$/],
    [{ smtpUrl: 'http://user:secret@x' }, /^(?!.*secret).*at \/smtpUrl: it takes a URL/],
  ])('refuses %j', (content, message) => {
    expect(faultsOf(content)).toEqual([expect.stringMatching(message)]);
    expect(faultsOf(content)[0]).toMatch(/^\/etc\/box\/signalbox\.json: at /);
  });

  it('tells all faults at once', () => {
    expect(faultsOf({ listen: 1, store: 'redis', bogus: 1 })).toHaveLength(3);
  });

  it('names the variable whose text cannot be read', () => {
    const environment = { SIGNALBOX_RUNNER: 'yes', SIGNALBOX_COLLECTION_JOB: '-1s' };
    expect(resolved({ environment })._unsafeUnwrapErr()).toEqual([
      'SIGNALBOX_RUNNER takes true or false, not "yes"',
      expect.stringMatching(/^SIGNALBOX_COLLECTION_JOB takes a duration.*, not "-1s"$/),
    ]);
  });

  it('counts paths of a file from its folder, others from the working folder', () => {
    const file = { path, content: { seed: 'seed.json', caFile: '/ca.pem', store: 'sqlite:data/x.sqlite' } };
    const { seedFile, outbound, store } = parseServeOptions([], { environment: {}, file })._unsafeUnwrap();
    expect([seedFile, outbound.caFile, store.place]).toEqual([
      '/etc/box/seed.json',
      '/ca.pem',
      { type: 'sqlite', path: '/etc/box/data/x.sqlite' },
    ]);
    expect(parseServeOptions(['--seed', 'seed.json'])._unsafeUnwrap().seedFile).toBe('seed.json');
  });

  it('gives the engine what was set', () => {
    const content = {
      collection: { job: '30d' },
      notifications: {
        delivery: { retry: { chat: ['1s', '1h30m'] }, autoDisableAfter: '3d', breaker: { failures: 2 } },
        signature: { standardWebhooks: true, headers: ['X-Mine'] },
      },
    };
    const args = ['--names', 'upstream', '--set', 'notifications.delivery.retry.email='];
    const { engine } = parseServeOptions(args, { environment: {}, file: { path, content } })._unsafeUnwrap();
    const settings = settingsFrom(engine);
    expect(settings.collection).toMatchObject({ job: 30 * 86_400_000, node: 86_400_000, interval: 300_000 });
    expect(settings.notifications.delivery.retry).toEqual({
      ...defaultSettings.notifications.delivery.retry,
      chat: [1000, 5_400_000],
      email: [],
    });
    expect(settings.notifications.delivery.autoDisableAfter).toBe(3 * 86_400_000);
    expect(settings.notifications.delivery.breaker).toEqual({ failures: 2, pause: 30_000, maximumPause: 600_000 });
    expect(settings.notifications.signature).toMatchObject({
      standardWebhooks: true,
      headers: ['x-mine'],
      idHeader: 'x-tfe-notification-id',
    });
  });

  it('finds misspelled variables, and leaves those of others alone', () => {
    expect(misspelledVariables({ SIGNALBOX_LISTN: 'x', SIGNALBOX_TOKEN: 'x', PATH: '/' })).toEqual([
      'SIGNALBOX_LISTN is not a setting; did you mean SIGNALBOX_LISTEN?',
    ]);
    expect(misspelledVariables({ SIGNALBOX_SERVICE_HOST: 'x', SIGNALBOX_PORT_4646_TCP_ADDR: 'x' })).toEqual([]);
  });
});

describe('settingsSchema', () => {
  const { $schema: _, ...schema } = settingsSchema();
  const valid = new Ajv({ strict: false }).compile(schema);

  it.each([
    [{}, true],
    [{ $schema: 'node_modules/signalbox/dist/signalbox.schema.json', listen: '127.0.0.1:1' }, true],
    [{ notifications: { delivery: { retry: { generic: ['5s'] }, autoDisableAfter: null } } }, true],
    [{ lisen: 'x' }, false],
    [{ notifications: { delivery: { retry: { generic: [5] } } } }, false],
    [{ notifications: { delivery: { jitter: 2 } } }, false],
    [{ names: 'other' }, false],
  ])('judges %j as the server does: %s', (content, isValid) => {
    expect(valid(content)).toBe(isValid);
    expect(resolved({ file: { path, content } }).isOk()).toBe(isValid);
  });
});

it('takes the example of the guide', () => {
  const guide = readFileSync(new URL('../../../../docs/guides/settings.md', import.meta.url), 'utf8');
  const content: unknown = JSON.parse(/```json settings\n(.*?)```/s.exec(guide)?.[1] ?? '');
  const options = parseServeOptions([], { environment: {}, file: { path, content } })._unsafeUnwrap();
  expect(options.engine.notifications?.delivery?.retry?.generic).toEqual([5000, 60_000, 600_000, 3_600_000]);
});

describe('durationText', () => {
  it.each([
    [0, '0s'],
    [50, '50ms'],
    [5_400_000, '1h30m'],
    [2_592_000_000, '30d'],
    [90_061_001, '1d1h1m1s1ms'],
  ])('prints %d as %s', (milliseconds, text) => {
    expect(durationText(milliseconds)).toBe(text);
  });
});
