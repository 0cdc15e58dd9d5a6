import type { AgentLink } from '../../../src/ports/agent-link.js';
import type { Logger } from '../../../src/ports/logger.js';

/** Wraps a link so that it logs once when the server stops answering or refuses the agent, and when it recovers. */
export function watchedLink(link: AgentLink, server: string, logger: Logger | undefined): AgentLink {
  if (logger === undefined) return link;
  let reported = '';
  const over = (): void => {
    if (reported !== '') logger.info({ server }, 'The server answers the agent again');
    reported = '';
  };
  const failed = (error: { readonly type: string; readonly message?: string }): void => {
    // "Unknown node" is a normal answer: the agent then registers the node.
    if (error.type === 'node_not_found') over();
    if (error.type === 'node_not_found' || reported === error.type) return;
    reported = error.type;
    const what = error.type === 'node_refused' ? 'refuses the agent' : 'does not answer the agent';
    logger.warn({ server, error: error.message ?? error.type }, `The server ${what}; retrying`);
  };
  return {
    ...link,
    // The registration logs its own failures.
    register: (node, agent) => link.register(node, agent).andTee(over),
    heartbeat: (nodeId, instance) => link.heartbeat(nodeId, instance).andTee(over).orTee(failed),
    report: (report) => link.report(report).andTee(over).orTee(failed),
  };
}
