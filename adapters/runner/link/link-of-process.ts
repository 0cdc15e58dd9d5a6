import type { AgentProcess } from '../../../src/agent/link/agent-process.js';
import type { AgentLink } from '../../../src/ports/agent-link.js';

/** Wraps a link so that its calls identify the calling process. */
export function linkOfProcess(link: AgentLink, agent: AgentProcess): AgentLink {
  const { instance } = agent;
  return {
    register: (node) => link.register(node, agent),
    heartbeat: (nodeId) => link.heartbeat(nodeId, instance),
    work: (query, signal) => link.work({ ...query, instance }, signal),
    variables: (query, signal) => link.variables({ ...query, instance }, signal),
    report: (report) => link.report({ ...report, instance }),
    serve: (nodeId, perform) => link.serve(nodeId, perform, instance),
    leave: (nodeId) => link.leave(nodeId, instance),
  };
}
