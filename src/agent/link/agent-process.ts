/**
 * The process that acts as a node's agent. The server accepts calls for a node from one process at a time, so that nothing runs twice
 * when two agents have the same node ID.
 */
export interface AgentProcess {
  /** A new value for each start of an agent. */
  readonly instance: string;
  /**
   * A secret shared by the processes of one folder, replaced in a copy of the folder. Only one process at a time holds a folder, so a new one
   * replaces the previous one and may continue at once. Absent without a folder.
   */
  readonly folder?: string;
  /** Boot ID of the host. Over a network only processes of the same boot count as those of one folder, because host images are copied, too. */
  readonly boot?: string;
}
