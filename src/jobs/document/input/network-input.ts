// Made by `renderJobInputTypes` from the tables in `src/jobs`. Do not edit.

/** The network of a group (or, deprecated, of a task). The block `network` of a job specification. */
export interface NetworkResourceInput {
  /** `host` (the network of the node), `bridge`, `none` or `cni/<name>`. */
  readonly Mode?: string | null;
  /** @deprecated Ignored. */
  readonly Device?: string | null;
  /** @deprecated Ignored. */
  readonly CIDR?: string | null;
  /** @deprecated Ignored. */
  readonly IP?: string | null;
  /** The host name inside the network. No effect in mode `host`. */
  readonly Hostname?: string | null;
  /** @deprecated Has no effect. */
  readonly MBits?: number | null;
  /** Name resolution inside the network. No effect in mode `host`. */
  readonly DNS?: DNSConfigInput | null;
  /** Static ports of the node. */
  readonly ReservedPorts?: readonly PortInput[] | null;
  /** Ports of the node whose numbers are chosen at placement. */
  readonly DynamicPorts?: readonly PortInput[] | null;
  /** Arguments for the network plugin. */
  readonly CNI?: CNIConfigInput | null;
}

/** Name resolution inside the network. The block `dns` of a job specification. */
export interface DNSConfigInput {
  /** Addresses of name servers. */
  readonly Servers?: readonly string[] | null;
  /** Search domains for short names. */
  readonly Searches?: readonly string[] | null;
  /** Options of the resolver. */
  readonly Options?: readonly string[] | null;
}

/**
 * A port of the network; dynamic unless `static` is given. The block `reserved_ports` or `port` of a job
 * specification.
 */
export interface PortInput {
  /** The name by which tasks and services refer to the port, as `${NOMAD_PORT_<label>}`. */
  readonly Label?: string | null;
  /** The number of the port on the node, from 1 to 65535; for reserved ports only. */
  readonly Value?: number | null;
  /** The port inside the network; the same number when left out; -1 means the number on the node. */
  readonly To?: number | null;
  /** The node's network that the port is on; `default` when left out. */
  readonly HostNetwork?: string | null;
  /** Lets other allocations reserve the same port. For the mode `host` only. */
  readonly IgnoreCollision?: boolean | null;
}

/** Arguments for the network plugin. The block `cni` of a job specification. */
export interface CNIConfigInput {
  /** Names and values without semicolons. */
  readonly Args?: { readonly [name: string]: string } | null;
}
