import { readFileSync } from 'node:fs';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { settingsUsage } from '../adapters/cli/serve/serve-options.js';
import { settingsSchema } from '../adapters/cli/settings/config-command.js';
import { resolveSettings, type SettingSources } from '../adapters/cli/settings/resolve-settings.js';
import { atPath, variableOf } from '../adapters/cli/settings/setting.js';
import { settingTable } from '../adapters/cli/settings/setting-table.js';
import { defaultSettings, engineSettings, settingChoices, settingsFrom } from '../src/index.js';
import { type EngineSetting, isSetting, type SettingGroup } from '../src/options/setting-kinds.js';

type Described = readonly [key: string, setting: EngineSetting<unknown>];

function described(group: SettingGroup, prefix = ''): Described[] {
  return Object.entries(group).flatMap(([name, row]): Described[] =>
    isSetting(row) ? [[prefix + name, row]] : described(row, `${prefix}${name}.`),
  );
}

/** Overrides with one value. */
function overriding(key: string, value: unknown): object {
  return key.split('.').reduceRight((within, name) => ({ [name]: within }), value) as object;
}

/** Keys of the members with a docstring, groups included: editors show it at the members of `Settings`. */
function documentedKeys(): ReadonlySet<string> {
  const path = 'src/settings.ts';
  const keys = new Set<string>();
  const visit = (node: ts.Node, prefix: string): void => {
    if (!ts.isPropertyAssignment(node)) return void ts.forEachChild(node, (child) => visit(child, prefix));
    const key = prefix + node.name.getText();
    if (ts.getJSDocCommentsAndTags(node).length > 0) keys.add(key);
    visit(node.initializer, `${key}.`);
  };
  visit(ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.ES2022, true), '');
  return keys;
}

const settings = described(engineSettings);
const settingsOfServer = settings.flatMap(([key, { ofServer, default: value }]) =>
  ofServer === undefined ? [] : [[key, ofServer.summary, value] as const],
);

describe('a setting of the engine', () => {
  const documented = documentedKeys();

  it.each(settings)('has a default, a check and a docstring: %s', (key, setting) => {
    expect(atPath(defaultSettings, key)).toEqual(setting.default);
    expect(settingsFrom(overriding(key, setting.default))).toEqual(defaultSettings);
    expect(() => settingsFrom(overriding(key, () => 'a value of no setting'))).toThrow(
      `settings: ${key} takes ${setting.accepts.takes}, got a function`,
    );
    expect(documented).toContain(key);
  });

  it.each(settingsOfServer)(
    'is a flag, a variable, in file, help and schema of a server: %s',
    (key, summary, value) => {
      const json = settingTable.find((one) => one.key === key)?.kind.toJson(value);
      const text = json === null ? 'none' : String(json);
      const read = (sources: Partial<SettingSources>) =>
        resolveSettings({ flags: [], environment: {}, file: null, ...sources })
          ._unsafeUnwrap()
          .get(key)?.value;
      expect(read({ flags: [{ key, flag: '--set', text }] })).toEqual(value);
      expect(read({ environment: { [variableOf(key)]: text } })).toEqual(value);
      expect(read({ file: { path: '/f.json', content: overriding(key, json) } })).toEqual(value);
      expect(settingsUsage).toContain(`  ${key} (${JSON.stringify(json)})\n      ${summary}`);
      expect(atPath(settingsSchema(), `properties.${key.replaceAll('.', '.properties.')}`)).toMatchObject({
        default: json,
        description: `${summary} (${variableOf(key)})`,
      });
    },
  );

  it('is one of a server only as described', () => {
    const ofEngine = settingTable.filter((one) => one.ofEngine === true).map((one) => one.key);
    expect(ofEngine).toEqual(settingsOfServer.map(([key]) => key));
  });
});

it('publishes the choices of each enumerated setting', () => {
  const ofRows = settings.flatMap(([key, setting]) => ('words' in setting ? [[key, setting.words]] : []));
  expect(Object.entries(settingChoices).sort()).toEqual(ofRows.sort());
});
