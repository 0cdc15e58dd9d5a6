import { resolve } from 'node:path';
import { quoted } from '../../../src/shared/values.js';
import { serverAddress } from '../addresses.js';
import { type OutboundOptions, outboundOptionsFrom } from '../serve/serve-options.js';
import { type NodeOptions, nodeOptionsFrom } from '../settings/node-settings.js';
import { type FlagText, resolveSettings, type SettingsFile } from '../settings/resolve-settings.js';
import { Stopped } from '../stopped.js';

/** The options of `signalbox agent`. */
export interface AgentFlags {
  readonly server: string | undefined;
  readonly 'token-file': string | undefined;
  readonly driver: readonly string[];
  readonly directory: string | undefined;
  readonly 'node-id': string | undefined;
  readonly name: string | undefined;
  readonly pool: string | undefined;
  readonly datacenter: string | undefined;
  readonly class: string | undefined;
  readonly meta: readonly string[];
  readonly cpu: string | undefined;
  readonly memory: string | undefined;
  readonly disk: string | undefined;
  readonly reserved: readonly string[];
  readonly volume: readonly string[];
  readonly 'allow-outbound': readonly string[];
  readonly 'on-stop': string | undefined;
}

/** Other sources of the node's settings. */
interface AgentSurroundings {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly file: SettingsFile | null;
}

export interface AgentOptions {
  readonly url: string;
  readonly tokenFile: string | null;
  readonly directory: string;
  readonly node: NodeOptions;
  readonly outbound: OutboundOptions;
  readonly onStop: 'leave' | 'kill';
}

const drivers = ['raw_exec'];

/** The settings that the agent's options set. */
const settingOf = {
  directory: 'node.directory',
  'node-id': 'node.id',
  name: 'node.name',
  pool: 'node.pool',
  datacenter: 'node.datacenter',
  class: 'node.class',
  meta: 'node.meta',
  cpu: 'node.cpu',
  memory: 'node.memory',
  disk: 'node.disk',
  volume: 'volumes',
  'allow-outbound': 'allowOutbound',
} as const;

/** Precedence: options, environment, file. Throws `Stopped`, naming the invalid option, variable or place in the file. */
export function agentOptionsFrom(flags: AgentFlags, { environment, file }: AgentSurroundings): AgentOptions {
  const unknown = flags.driver.find((name) => !drivers.includes(name));
  if (unknown !== undefined) throw misused(`unknown driver ${quoted(unknown)} for --driver; allowed: raw_exec`);
  const onStop = flags['on-stop'] ?? 'leave';
  if (onStop !== 'leave' && onStop !== 'kill') throw misused('--on-stop takes leave or kill');
  const resolved = resolveSettings({ flags: flagTexts(flags), environment, file });
  if (resolved.isErr()) throw misused(resolved.error.join('\n'));
  const read = <T>(key: string): T => resolved.value.get(key)?.value as T;
  return {
    url: serverFrom(flags.server ?? environment['SIGNALBOX_ADDR']),
    tokenFile: flags['token-file'] ?? null,
    directory: resolve(read<string | undefined>('node.directory') ?? 'signalbox-agent'),
    node: nodeOptionsFrom(read),
    outbound: outboundOptionsFrom(read),
    onStop,
  };
}

function flagTexts(flags: AgentFlags): readonly FlagText[] {
  const named = Object.entries(settingOf).flatMap(([name, key]) =>
    [flags[name as keyof typeof settingOf] ?? []].flat().map((text) => ({ key, flag: `--${name}`, text })),
  );
  const reserved = flags.reserved.map((given) => {
    const [, kind, text = ''] = /^(cpu|memory|disk)=(.*)$/.exec(given) ?? [];
    if (kind === undefined) throw misused('--reserved takes cpu=MHZ, memory=MIB or disk=MIB');
    return { key: `node.reserved.${kind}`, flag: '--reserved', text };
  });
  return [...named, ...reserved];
}

function serverFrom(text: string | undefined): string {
  const server = serverAddress(text === undefined || text === '' ? 'http://127.0.0.1:4646' : text);
  if ('url' in server) return server.url;
  throw misused(`--server takes a URL such as https://jobs.example.org, not ${server.shown}`);
}

function misused(message: string): Stopped {
  return new Stopped(`${message}\nsignalbox agent --help lists the options`, 2);
}
