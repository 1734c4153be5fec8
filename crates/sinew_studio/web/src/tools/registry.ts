// The tools of all capabilities, by id.
import { CAPABILITIES } from '../capabilities';
import { TOOL_GROUPS, type ToolSpec } from '../capability';

/** In the order of the toolbar. */
export const allTools = (): ToolSpec[] => {
  const tools = CAPABILITIES.flatMap((capability) => capability.tools ?? []);
  return TOOL_GROUPS.flatMap((group) => tools.filter((tool) => tool.group === group));
};

export const toolSpec = (id: string): ToolSpec | undefined => allTools().find((tool) => tool.id === id);
