import { expect, it } from 'vitest';
import { settingsUsage } from '../adapters/cli/serve/serve-options.js';
import { settingsSchema } from '../adapters/cli/settings/config-command.js';
import { readFlags } from '../adapters/cli/settings/read-flags.js';
import { resolveSettings, type SettingSources } from '../adapters/cli/settings/resolve-settings.js';
import { atPath, variableOf } from '../adapters/cli/settings/setting.js';
import { settingTable } from '../adapters/cli/settings/setting-table.js';
import { defaultSettings, type EngineSetting, engineSettings, settingsFrom } from '../src/index.js';
import { isSetting, type SettingGroup } from '../src/options/setting-kinds.js';

function settingsIn(group: SettingGroup, prefix = ''): (readonly [key: string, setting: EngineSetting<unknown>])[] {
  return Object.entries(group).flatMap(([name, row]) =>
    isSetting(row) ? [[prefix + name, row] as const] : settingsIn(row, `${prefix}${name}.`),
  );
}

/** An object with one value, at a dotted key. */
function withValue(key: string, value: unknown): object {
  return key.split('.').reduceRight((within, name) => ({ [name]: within }), value) as object;
}

it.each(settingsIn(engineSettings))('createEngine has a default and a check of %s', (key, setting) => {
  expect(atPath(defaultSettings, key)).toEqual(setting.default);
  expect(settingsFrom(withValue(key, setting.default))).toEqual(defaultSettings);
  expect(() => settingsFrom(withValue(key, { toString: () => 'no value of a setting' }))).toThrow(
    `settings: ${key} takes ${setting.accepts.takes}, got an object of another kind`,
  );
});

/** `resolve-settings.test.ts` lists the settings of the engine that a server does not have under their keys. */
it.each(settingTable.filter(({ ofEngine }) => ofEngine === true))(
  'a server has $key as a flag, as a variable, in its file, in the help and in the schema',
  ({ key, kind, summary, default: value }) => {
    const faults = (source: Partial<SettingSources>) =>
      resolveSettings({ flags: [], environment: {}, file: null, ...source })._unsafeUnwrapErr();
    const { flags } = readFlags(['--set', `${key}=\0`])._unsafeUnwrap();
    expect(faults({ flags })).toEqual([`--set ${key} ${kind.takes}, not "\\u0000"`]);
    expect(faults({ environment: { [variableOf(key)]: '\0' } })).toEqual([
      `${variableOf(key)} ${kind.takes}, not "\\u0000"`,
    ]);
    expect(faults({ file: { path: '/f.json', content: withValue(key, {}) } })).toEqual([
      `/f.json: at /${key.replaceAll('.', '/')}: it ${kind.takes}, not {}`,
    ]);
    const standard = kind.toJson(value);
    expect(settingsUsage).toContain(`\n  ${key} (${JSON.stringify(standard)})\n      ${summary}`);
    expect(settingsUsage).toContain(`\n      ${variableOf(key)}\n`);
    expect(atPath(settingsSchema(), `properties.${key.replaceAll('.', '.properties.')}`)).toMatchObject({
      default: standard,
      description: `${summary} (${variableOf(key)})`,
    });
  },
);
