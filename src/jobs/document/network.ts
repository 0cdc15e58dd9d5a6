/** A network request. Fields with an empty value are left out, as on the wire. */
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

/** A port request. Fields with an empty value are left out, as on the wire. */
export interface Port {
  readonly Label?: string;
  readonly Value?: number;
  readonly To?: number;
  readonly HostNetwork?: string;
  readonly IgnoreCollision?: boolean;
}

export interface DNSConfig {
  readonly Servers: readonly string[] | null;
  readonly Searches: readonly string[] | null;
  readonly Options: readonly string[] | null;
}

interface CNIConfig {
  readonly Args: Readonly<Record<string, string>> | null;
}
