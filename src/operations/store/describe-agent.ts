import { okAsync, type ResultAsync } from 'neverthrow';
import { datacenter, type EngineContext, onlyNode, ownAddress } from '../context/engine-context.js';

/** A server as other servers see it. */
interface AgentMember {
  readonly Name: string;
  readonly Addr: string;
  readonly Port: number;
  readonly Tags: Readonly<Record<string, string>>;
  readonly Status: 'alive';
  readonly ProtocolMin: number;
  readonly ProtocolMax: number;
  readonly ProtocolCur: number;
  readonly DelegateMin: number;
  readonly DelegateMax: number;
  readonly DelegateCur: number;
}

/** This server: the settings that clients read, its membership, and statistics. */
export interface AgentSelf {
  readonly config: Readonly<Record<string, unknown>>;
  readonly member: AgentMember;
  readonly stats: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

export interface AgentMembers {
  readonly ServerName: string;
  readonly ServerRegion: string;
  readonly ServerDC: string;
  readonly Members: readonly AgentMember[];
}

/** The servers of a cluster, from which Nomad's clients determine the leader. */
export interface RaftConfiguration {
  readonly Index: number;
  readonly Servers: readonly {
    readonly ID: string;
    readonly Node: string;
    readonly Address: string;
    readonly Leader: boolean;
    readonly Voter: boolean;
    readonly RaftProtocol: string;
  }[];
}

/** The supported version of the interface, by which clients choose their requests. */
const interfaceVersion = '1.10.0';

/** The description of this server (job interface, agent). */
export function describeAgent(context: EngineContext): ResultAsync<AgentSelf, never> {
  const member = memberOf(context);
  const config = {
    Region: context.settings.jobs.region,
    Datacenter: datacenter,
    NodeName: member.Name,
    Server: { Enabled: true },
    Version: { Version: interfaceVersion, VersionPrerelease: '', VersionMetadata: '', Revision: '' },
  };
  const server = { server: 'true', leader: 'true', leader_addr: ownAddress(context) };
  const node = onlyNode(context);
  const client = node === undefined ? {} : { client: { node_id: node } };
  return okAsync({ config, member, stats: { signalbox: server, ...client } });
}

/** The servers of the region: this one. */
export function listMembers(context: EngineContext): ResultAsync<AgentMembers, never> {
  const member = memberOf(context);
  return okAsync({
    ServerName: member.Name,
    ServerRegion: context.settings.jobs.region,
    ServerDC: datacenter,
    Members: [member],
  });
}

/** Addresses of the servers for agents: the one of this server. Needs `agent:read`. */
export function listServers(context: EngineContext): ResultAsync<readonly string[], never> {
  return okAsync([ownAddress(context)]);
}

/** This server as its own leader, since it needs no consensus. Needs `operator:read`. */
export function readRaftConfiguration(context: EngineContext): ResultAsync<RaftConfiguration, never> {
  const { Name } = memberOf(context);
  const server = { ID: Name, Node: Name, Address: ownAddress(context), Leader: true, Voter: true, RaftProtocol: '3' };
  return okAsync({ Index: 0, Servers: [server] });
}

export function memberOf(context: EngineContext): AgentMember {
  const { region } = context.settings.jobs;
  const [host = 'localhost', port = ''] = ownAddress(context).split(/:(?=[0-9]+$)/);
  return {
    Name: `${host}.${region}`,
    Addr: host,
    Port: Number(port === '' ? 0 : port),
    Tags: { role: 'signalbox', region, dc: datacenter, port, build: interfaceVersion, expect: '1', bootstrap: '1' },
    Status: 'alive',
    ProtocolMin: 1,
    ProtocolMax: 5,
    ProtocolCur: 2,
    DelegateMin: 2,
    DelegateMax: 5,
    DelegateCur: 4,
  };
}
