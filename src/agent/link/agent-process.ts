/**
 * The process that acts as the agent of a node. The server takes calls for a node from one process at a time, so that nothing runs twice
 * when two agents have the same node ID.
 */
export interface AgentProcess {
  /** A new string for each start of an agent. */
  readonly instance: string;
  /**
   * Known to the processes of one folder only, and another one in a copy of it. Only one process at a time has a folder, so a new one is
   * the successor of the one before it, and may continue at once. Absent without a folder.
   */
  readonly folder?: string;
  /** The start of the host. Over a network only processes of the same start count as those of one folder: images of hosts are copied, too. */
  readonly boot?: string;
}
