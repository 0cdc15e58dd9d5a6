import { type Setting, variableOf } from './setting.js';
import { settingTable } from './setting-table.js';

interface Group {
  readonly type: 'object';
  readonly additionalProperties: false;
  readonly properties: Record<string, unknown>;
}

/** JSON Schema (2020-12) of the settings file, from the table of settings. */
export function settingsSchema(): Readonly<Record<string, unknown>> {
  const top = group();
  top.properties['$schema'] = { type: 'string' };
  for (const setting of settingTable) add(top, setting);
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Settings of signalbox serve',
    ...top,
  };
}

function add(top: Group, { key, kind, summary, default: value, secret }: Setting): void {
  const names = key.split('.');
  const last = names.pop() as string;
  let within = top;
  for (const name of names) {
    within.properties[name] ??= group();
    within = within.properties[name] as Group;
  }
  within.properties[last] = {
    ...kind.schema,
    description: `${summary} (${variableOf(key)})`,
    ...(value === undefined ? {} : { default: kind.toJson(value) }),
    ...(secret === true ? { writeOnly: true } : {}),
  };
}

function group(): Group {
  return { type: 'object', additionalProperties: false, properties: {} };
}
