import type { AgentLink } from '../../../src/ports/agent-link.js';
import type { Logger } from '../../../src/ports/logger.js';

/** The same link, which logs once when the server does not answer or refuses the agent, and when it recovers. */
export function watchedLink(link: AgentLink, server: string, logger: Logger | undefined): AgentLink {
  if (logger === undefined) return link;
  let told = '';
  const over = (): void => {
    if (told !== '') logger.info({ server }, 'The server answers the agent again');
    told = '';
  };
  const failed = (error: { readonly type: string; readonly message?: string }): void => {
    // That a node is not known is an answer: the agent then registers it.
    if (error.type === 'node_not_found') over();
    if (error.type === 'node_not_found' || told === error.type) return;
    told = error.type;
    const what = error.type === 'node_refused' ? 'refuses the agent' : 'does not answer the agent';
    logger.warn({ server, error: error.message ?? error.type }, `The server ${what}; it is asked again`);
  };
  return {
    ...link,
    // An agent that cannot register says so itself.
    register: (node, agent) => link.register(node, agent).andTee(over),
    heartbeat: (nodeId, instance) => link.heartbeat(nodeId, instance).andTee(over).orTee(failed),
    report: (report) => link.report(report).andTee(over).orTee(failed),
  };
}
