import type { ResultAsync } from 'neverthrow';
import { type Client, type ConfigurationInput, type Engine, hostPrincipal } from '../../../src/index.js';
import { stated } from '../../../src/shared/values.js';
import { Stopped } from '../stopped.js';
import type { SeedFile } from './seed-file-schema.js';

/** The common members of errors from applying a record of the seed. */
interface Refusal {
  readonly type: string;
  readonly message?: string;
  readonly faults?: readonly { readonly pointer: string; readonly message: string }[];
}

/**
 * Creates or updates every record of the seed in the store; other records are left unchanged. Rejects with
 * `Stopped`, naming the record, if one is refused.
 */
export async function applySeed(engine: Engine, seed: SeedFile): Promise<void> {
  const box = engine.as(hostPrincipal);
  for (const [position, namespace] of seed.namespaces.entries()) {
    const pointer = `/namespaces/${position}`;
    const content = await namespaceContent(box, namespace, pointer);
    await applied(box.namespaces.put(namespace.name, content), pointer);
  }
  for (const [position, workspace] of seed.workspaces.entries()) {
    const { id, name, organization } = workspace;
    const content = {
      name,
      organization,
      executionMode: workspace.execution_mode,
      driftDetection: workspace.drift_detection,
      healthAssessments: workspace.health_assessments,
      url: workspace.url,
    };
    await applied(box.workspaces.put(id, content), `/workspaces/${position}`);
  }
  for (const [position, { id, ...user }] of seed.users.entries()) {
    await applied(box.users.put(id, user), `/users/${position}`);
  }
  for (const [position, { name, description, rules }] of seed.policies.entries()) {
    await applied(box.policies.put(name, { description, rules }), `/policies/${position}`);
  }
  for (const [position, token] of seed.tokens.entries()) {
    const namespaces = Object.fromEntries(
      Object.entries(token.namespaces).map(([glob, { capabilities, policy }]) => [
        glob,
        policy === undefined ? { capabilities } : { capabilities, policy },
      ]),
    );
    await applied(engine.host.putToken({ ...token, namespaces }), `/tokens/${position}`);
  }
  for (const [position, configuration] of seed.configurations.entries()) {
    await applyConfiguration(engine, configuration, `/configurations/${position}`);
  }
}

/** An unreachable destination does not prevent the start: it is logged and retried at the next start. */
async function applyConfiguration(
  engine: Engine,
  { workspace, destination_type: destinationType, ...content }: SeedFile['configurations'][number],
  pointer: string,
): Promise<void> {
  const put = await engine.as(hostPrincipal).notifications.declare(
    workspace,
    // Names of kinds and triggers are checked by the call.
    { destinationType, ...content } as ConfigurationInput,
  );
  if (put.isErr() && put.error.type === 'verification_failed') {
    const about = { workspace, configuration: content.name, reason: put.error.message };
    engine.logger.warn(about, 'A configuration of the seed file was not stored: its destination could not be verified');
    return;
  }
  if (put.isErr()) throw new Stopped(refused(put.error, pointer));
}

/** The content of a namespace of the file; omitted members keep their stored values. */
async function namespaceContent(
  box: Client,
  { name, description, meta, capabilities }: SeedFile['namespaces'][number],
  pointer: string,
): Promise<NonNullable<Parameters<Client['namespaces']['put']>[1]>> {
  const { value: stored } = await applied(box.namespaces.read(name), pointer);
  const allowed =
    capabilities === undefined
      ? stored?.Capabilities
      : {
          EnabledTaskDrivers: capabilities.enabled_task_drivers,
          DisabledTaskDrivers: capabilities.disabled_task_drivers,
          EnabledNetworkModes: capabilities.enabled_network_modes,
          DisabledNetworkModes: capabilities.disabled_network_modes,
        };
  return stated({
    description: description ?? stored?.Description,
    meta: meta ?? stored?.Meta ?? undefined,
    capabilities: allowed ? listsOf(allowed) : undefined,
  });
}

/** An absent list allows everything. */
function listsOf<K extends string>(lists: Readonly<Record<K, readonly string[] | null>>) {
  const given = Object.entries<readonly string[] | null>(lists).filter(([, list]) => list !== null);
  return Object.fromEntries(given) as { readonly [N in K]?: readonly string[] };
}

async function applied<T>(done: ResultAsync<T, Refusal>, pointer: string): Promise<T> {
  const result = await done;
  if (result.isOk()) return result.value;
  throw new Stopped(refused(result.error, pointer));
}

function refused({ type, message, faults }: Refusal, pointer: string): string {
  const reasons = faults?.map((fault) => `${pointer}${pointerInSeed(fault.pointer)}: ${fault.message}`);
  return `the seed file cannot be applied at ${reasons?.join('; ') ?? `${pointer}: ${message ?? type}`}`;
}

/** Converts a pointer into a request document to one into the seed file, whose configurations have another form. */
function pointerInSeed(pointer: string): string {
  return pointer.replace(/^\/data(?:\/attributes|\/relationships)?/, '').replaceAll('-', '_');
}
