import type { Service, ServiceCheck } from '../../jobs/document/service.js';
import type { Allocation } from '../../scheduler/allocation.js';
import { groupPorts, interpolate, portsOf } from './task-environment.js';

type Lookup = (name: string) => string | undefined;

/** A service with the references in its strings replaced, including those of its checks: the form that is registered and checked. */
export function filledService(service: Service, lookup: Lookup): Service {
  const fill = (text: string): string => interpolate(text, lookup);
  return {
    ...service,
    Name: fill(service.Name),
    PortLabel: fill(service.PortLabel),
    Address: fill(service.Address),
    Tags: service.Tags?.map(fill) ?? null,
    CanaryTags: service.CanaryTags?.map(fill) ?? null,
    Checks: service.Checks?.map((check) => filledCheck(check, fill)) ?? null,
  };
}

function filledCheck(check: ServiceCheck, fill: (text: string) => string): ServiceCheck {
  return {
    ...check,
    Name: fill(check.Name),
    // Types are case-insensitive.
    Type: check.Type.toLowerCase(),
    Command: fill(check.Command),
    Args: check.Args?.map(fill) ?? null,
    Path: fill(check.Path),
    Protocol: fill(check.Protocol),
    PortLabel: fill(check.PortLabel),
    Method: fill(check.Method),
    Body: fill(check.Body),
    TLSServerName: fill(check.TLSServerName),
    Header:
      check.Header === null
        ? null
        : Object.fromEntries(Object.entries(check.Header).map(([name, values]) => [name, (values ?? []).map(fill)])),
  };
}

/** Address of a service or a check of an allocation. */
interface ServicePort {
  /** Absent: the node's address. */
  readonly address?: string;
  readonly port: number;
}

/**
 * The port of a service or a check: by the label of one of the group's ports or of the task's own, or by its number
 * on the node. Undefined when there is none.
 */
export function servicePort(
  { Shared, Tasks }: Allocation['AllocatedResources'],
  task: string | null,
  label: string,
): ServicePort | undefined {
  const own = task === null ? undefined : Tasks[task];
  const found = [...groupPorts(Shared), ...portsOf(own?.Networks ?? null)].find((port) => port.Label === label);
  if (found !== undefined) {
    const { HostIP = '', Value } = found;
    return { port: Value, ...(HostIP === '' ? {} : { address: HostIP }) };
  }
  const port = /^[0-9]{1,5}$/.test(label) ? Number(label) : 0;
  return port > 0 && port < 65_536 ? { port } : undefined;
}
