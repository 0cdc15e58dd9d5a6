import type { AllocatedNetwork, AllocatedPort } from '../../scheduler/allocated-resources.js';
import type { Allocation } from '../../scheduler/allocation.js';

/**
 * The port variables of an allocation (job interface, environment given to a task): ports of the group's network by
 * label, those of other tasks' own networks by task and label. Names come without a prefix. Without a task, all task networks
 * count as other tasks'.
 */
export function portVariables(allocation: Allocation, task: string | undefined): Readonly<Record<string, string>> {
  const { Shared, Tasks } = allocation.AllocatedResources;
  const variables: Record<string, string> = {};
  for (const [name, resources] of Object.entries(Tasks)) {
    const infix = name === task ? '' : `${cleanName(name)}_`;
    for (const port of portsOf(resources.Networks)) add(variables, infix, port);
  }
  for (const port of groupPorts(Shared)) add(variables, '', port);
  return variables;
}

/** The ports of the group's network; older allocations have them in the network only. */
export function groupPorts({
  Ports,
  Networks,
}: Pick<Allocation['AllocatedResources']['Shared'], 'Ports' | 'Networks'>): readonly AllocatedPort[] {
  return Ports ?? portsOf(Networks);
}

export function portsOf(networks: readonly AllocatedNetwork[] | null): readonly AllocatedPort[] {
  return (networks ?? []).flatMap((network) =>
    [...(network.ReservedPorts ?? []), ...(network.DynamicPorts ?? [])].map(({ Label, Value, To }) => ({
      Label: Label ?? '',
      Value: Value ?? 0,
      To: To ?? 0,
      HostIP: network.IP ?? '',
    })),
  );
}

function add(
  variables: Record<string, string>,
  infix: string,
  { Label, Value, To = 0, HostIP = '' }: AllocatedPort,
): void {
  const label = infix + cleanName(Label);
  const inside = String(To > 0 ? To : Value);
  const address = `${HostIP.includes(':') ? `[${HostIP}]` : HostIP}:${Value}`;
  variables[`ADDR_${label}`] = address;
  variables[`IP_${label}`] = HostIP;
  variables[`PORT_${label}`] = inside;
  variables[`HOST_ADDR_${label}`] = address;
  variables[`HOST_IP_${label}`] = HostIP;
  variables[`HOST_PORT_${label}`] = String(Value);
  variables[`ALLOC_PORT_${label}`] = inside;
}

/** A name with the characters allowed in environment variables; every other one becomes an underscore. */
export function cleanName(name: string): string {
  return name.replace(/[^A-Za-z0-9_.]/g, '_');
}
