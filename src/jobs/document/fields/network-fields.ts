import { block, flag, inputOnly, integer, integerOrNull, many, one, stringMap, strings, text } from './field-table.js';

export const portBlock = block(
  'Port',
  { Label: text, Value: integer, To: integer, HostNetwork: text, IgnoreCollision: flag },
  { omitEmpty: true },
);

export const dnsBlock = block('DNSConfig', { Servers: strings, Searches: strings, Options: strings });

export const cniBlock = block('CNIConfig', { Args: stringMap });

export const networkBlock = block(
  'NetworkResource',
  {
    Mode: text,
    Device: inputOnly(text),
    CIDR: text,
    IP: text,
    Hostname: text,
    MBits: integerOrNull,
    DNS: one(dnsBlock),
    ReservedPorts: many(portBlock),
    DynamicPorts: many(portBlock),
    CNI: one(cniBlock),
  },
  { omitEmpty: true },
);
