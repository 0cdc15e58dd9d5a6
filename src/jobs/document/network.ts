import {
  block,
  flag,
  inputOnly,
  integer,
  integerOrNull,
  many,
  one,
  type Stored,
  stringMap,
  strings,
  text,
} from './field-table.js';

/**
 * A network request. Fields with an empty value are left out, as on the wire. The stored form of `NetworkResourceInput`, which
 * describes the fields.
 */
export interface NetworkResource {
  readonly Mode?: string;
  readonly CIDR?: string;
  readonly IP?: string;
  readonly Hostname?: string;
  readonly MBits?: number;
  readonly DNS?: DNSConfig;
  readonly ReservedPorts?: readonly Port[];
  readonly DynamicPorts?: readonly Port[];
  readonly CNI?: CNIConfig;
}

/**
 * A port request. Fields with an empty value are left out, as on the wire. The stored form of `PortInput`, which describes the
 * fields.
 */
export interface Port {
  readonly Label?: string;
  readonly Value?: number;
  readonly To?: number;
  readonly HostNetwork?: string;
  readonly IgnoreCollision?: boolean;
}

/** The stored form of `DNSConfigInput`, which describes the fields. */
export interface DNSConfig extends Stored<typeof dnsBlock> {}

/** The stored form of `CNIConfigInput`, which describes the field. */
export interface CNIConfig extends Stored<typeof cniBlock> {}

export const portBlock = block<Port>()(
  'Port',
  { Label: text, Value: integer, To: integer, HostNetwork: text, IgnoreCollision: flag },
  { omitEmpty: true },
);

export const dnsBlock = block<DNSConfig>()('DNSConfig', { Servers: strings, Searches: strings, Options: strings });

export const cniBlock = block<CNIConfig>()('CNIConfig', { Args: stringMap });

export const networkBlock = block<NetworkResource>()(
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
