import { columns } from '../output/tables.js';
import { checkedTogether, valueInForce } from '../serve/serve-options.js';
import { Stopped } from '../stopped.js';
import type { Terminal } from '../terminal.js';
import { doubleDashed, readFlags } from './read-flags.js';
import { misspelledVariables, type ResolvedSettings, resolveSettings } from './resolve-settings.js';
import { type Setting, variableOf } from './setting.js';
import { settingTable } from './setting-table.js';
import { readSettingsFile } from './settings-file.js';

export const configUsage = `signalbox config [options of serve] [--json]
signalbox config --schema

Prints each setting of serve with its effective value and its source; secrets are hidden.

  --json    print a JSON object: the value and source of each key
  --schema  print the JSON Schema of the settings file
`;

/** `signalbox config`: prints the settings that a server started here would use. */
export async function configCommand(given: readonly string[], terminal: Terminal): Promise<number> {
  const args = doubleDashed(given);
  if (args.includes('--schema')) {
    terminal.out(`${JSON.stringify(settingsSchema(), null, 2)}\n`);
    return 0;
  }
  const { environment } = terminal;
  const { flags, config } = orStop(readFlags(args.filter((text) => text !== '--json')));
  const file = await readSettingsFile(config, environment);
  const resolved = resolveSettings({ flags, environment, file }).mapErr((faults) => faults.join('\n'));
  const settings = orStop(resolved.andThen(checkedTogether));
  for (const message of misspelledVariables(environment)) terminal.error(`signalbox: ${message}\n`);
  terminal.out(args.includes('--json') ? asJson(settings) : asText(settings));
  return 0;
}

/** The value, or throws `Stopped` with the error and a pointer to the help. */
export function orStop<T>(result: {
  isOk(): boolean;
  match<A, B>(ok: (value: T) => A, err: (message: string) => B): A | B;
}): T {
  return result.match(
    (value) => value,
    (message) => {
      throw new Stopped(
        `${message}\nsignalbox serve --help lists the options, signalbox help settings lists the settings`,
        2,
      );
    },
  );
}

function asText(settings: ResolvedSettings): string {
  const rows = [...printed(settings)].map(([key, value, source]) => [
    key,
    source,
    value === undefined ? '-' : typeof value === 'string' ? value : JSON.stringify(value),
  ]);
  // Values come last, so that a long one does not widen a column.
  return columns([['Setting', 'From', 'Value'], ...rows]);
}

function asJson(settings: ResolvedSettings): string {
  const entries = [...printed(settings)].map(([key, value, source]) => [key, { value: value ?? null, source }]);
  return `${JSON.stringify(Object.fromEntries(entries), null, 2)}\n`;
}

function* printed(settings: ResolvedSettings): Iterable<readonly [key: string, value: unknown, source: string]> {
  for (const [key, { setting, source }] of settings) {
    const value = valueInForce<unknown>(settings, key);
    const hidden = setting.secret === true && value !== undefined;
    yield [key, hidden ? '[hidden]' : value === undefined ? undefined : setting.kind.toJson(value), source];
  }
}

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
  const last = names.pop() ?? '';
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
