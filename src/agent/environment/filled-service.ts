import type { Service, ServiceCheck } from '../../jobs/document/service.js';
import { interpolate } from './task-environment.js';

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
