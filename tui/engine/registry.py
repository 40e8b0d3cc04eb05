"""Every list, text and wish there is, a row each: who answers it, what is refused in a browser, what it costs.

A new one is a type in its subject's `queries`, a page, and a row here. Pages of analyses and logs are named and not
imported: they are loaded when they are first wanted, so that the first screens do not wait for them.
"""

from model.sources.source import CONFIGS, GROUPS, LOG_DIRS
from tui.engine import queries
from tui.engine.cluster import queries as of_cluster
from tui.engine.cluster.brokers import broker_text, brokers_window, rack_text
from tui.engine.cluster.controller import admin_work_window, controller_text, registration_text, states_text
from tui.engine.cluster.events import effects_window, event_text, events_window
from tui.engine.cluster.findings import finding_text, findings_window
from tui.engine.cluster.overview import overview_picture
from tui.engine.cluster.znode_tree import ZnodeService
from tui.engine.consumers.groups import group_text, groups_window
from tui.engine.consumers.ownership import ownership_window
from tui.engine.drill import queries as of_drill
from tui.engine.drill.course import course_picture
from tui.engine.drill.rows import drill_brokers, drill_map, drill_timeline
from tui.engine.drill.texts import drill_text, moment_text, partition_drill_text, step_text
from tui.engine.history import queries as of_past
from tui.engine.history.past_pages import event_strip, past_comparison, past_event_text, past_window
from tui.engine.messages import NO_WISH, ONLY_SHOWS, JobsText, StopJobs, TimeQuery
from tui.engine.partitions.counts import partitions_picture
from tui.engine.partitions.map import map_window
from tui.engine.partitions.reasons import partition_text
from tui.engine.partitions.topics import topic_text, topics_window
from tui.engine.plots import plot_text
from tui.engine.router import Entry, Router
from tui.engine.sandbox.pages import process_text, sandbox_links, sandbox_processes, sandbox_standing
from tui.engine.sandbox.picture import cluster_picture

NO_LOGS = f"{ONLY_SHOWS}: no log folder is read"
NO_PROCESSES = f"{ONLY_SHOWS}: a sandbox is broken in a terminal"

LAGS = (GROUPS,)
"""What findings tell of, and events of groups that rebalance, too."""
SETTINGS = (CONFIGS,)
SIZES = (CONFIGS, LOG_DIRS)

REGISTRY: tuple[Entry, ...] = (
    Entry(TimeQuery, Router.of_time),
    # The cluster
    Entry(of_cluster.BrokerList, Router.of_moment, brokers_window),
    Entry(of_cluster.EventList, Router.of_moment, events_window, wants=LAGS),
    Entry(of_cluster.EffectList, Router.of_moment, effects_window),
    Entry(of_cluster.FindingList, Router.of_findings, findings_window, wants=LAGS),
    Entry(of_cluster.AdminWorkList, Router.of_moment, admin_work_window),
    Entry(of_cluster.ZnodeList, Router.of_tree, ZnodeService.window, wants=SIZES),
    Entry(of_cluster.OverviewPicture, Router.of_recent, overview_picture, wants=LAGS),
    Entry(of_cluster.BrokerTextQuery, Router.of_settings, broker_text),
    Entry(of_cluster.RackText, Router.of_moment, rack_text),
    Entry(of_cluster.BrokerPlot, Router.of_moment, plot_text),
    Entry(of_cluster.ControllerText, Router.of_controller, controller_text),
    Entry(of_cluster.RegistrationText, Router.of_controller, registration_text),
    Entry(of_cluster.StatesText, Router.of_states, states_text),
    Entry(of_cluster.FindingText, Router.of_moment, finding_text, wants=LAGS),
    Entry(of_cluster.EventText, Router.of_moment, event_text),
    Entry(of_cluster.ZnodeText, Router.of_tree, ZnodeService.text, wants=SIZES),
    Entry(of_cluster.ZnodeHistoryText, Router.of_tree, ZnodeService.text, wants=SIZES),
    Entry(of_cluster.RecordList, Router.of_tree, ZnodeService.records),
    Entry(of_cluster.RecordText, Router.of_tree, ZnodeService.record),
    Entry(of_cluster.Acknowledge, Router.wish, Router.acknowledge),
    # Partitions
    Entry(queries.PartitionList, Router.of_moment, map_window, wants=SETTINGS),
    Entry(queries.TopicList, Router.of_moment, topics_window, wants=SETTINGS),
    Entry(queries.PartitionTextQuery, Router.of_moment, partition_text, wants=SETTINGS),
    Entry(queries.PartitionPicture, Router.of_moment, partitions_picture, wants=SETTINGS),
    Entry(queries.TopicTextQuery, Router.of_settings, topic_text),
    # Consumers
    Entry(queries.GroupList, Router.of_groups, groups_window, wants=LAGS),
    Entry(queries.OwnershipList, Router.of_ownership, ownership_window, wants=LAGS),
    Entry(queries.GroupText, Router.of_group, group_text, wants=LAGS),
    # A drill
    Entry(of_drill.DrillBrokerList, Router.of_drill, drill_brokers),
    Entry(of_drill.DrillTimelineList, Router.of_drill, drill_timeline),
    Entry(of_drill.DrillMapList, Router.of_drill, drill_map),
    Entry(of_drill.DrillText, Router.of_drill, drill_text),
    Entry(of_drill.DrillStepText, Router.of_drill, step_text),
    Entry(of_drill.DrillMomentText, Router.of_drill, moment_text),
    Entry(of_drill.CoursePicture, Router.of_drill, course_picture),
    Entry(of_drill.DrillPartitionText, Router.of_drill, partition_drill_text),
    # Analyses
    Entry(of_drill.ScenarioList, Router.of_analysis, "drill.sweep_pages.sweep_scenarios"),
    Entry(of_drill.DeathList, Router.of_analysis, "drill.sweep_pages.worst_deaths"),
    Entry(of_drill.DeathText, Router.of_analysis, "drill.sweep_pages.scenario_text"),
    Entry(of_drill.HeatList, Router.of_analysis, "drill.sweep_pages.heat_page"),
    Entry(of_drill.SweepText, Router.of_analysis, "drill.sweep_pages.sweep_text"),
    Entry(of_drill.ScenarioText, Router.of_analysis, "drill.sweep_pages.scenario_text"),
    Entry(queries.LabGroupList, Router.of_analysis, "lab.rows.lab_groups", wants=LAGS),
    Entry(queries.LabStrategyList, Router.of_analysis, "lab.matrix.lab_strategies", wants=LAGS),
    Entry(queries.LabConsumerList, Router.of_analysis, "lab.rows.lab_consumers", wants=LAGS),
    Entry(queries.LabPartitionList, Router.of_analysis, "lab.rows.lab_partitions", wants=LAGS),
    Entry(queries.LabGraphList, Router.of_analysis, "lab.pages.lab_graph", wants=LAGS),
    Entry(queries.LabTotalList, Router.of_analysis, "lab.estate.lab_totals", wants=LAGS),
    Entry(queries.LabCaseList, Router.of_analysis, "lab.estate.lab_cases", wants=LAGS),
    Entry(queries.LabText, Router.of_analysis, "lab.pages.lab_text", wants=LAGS),
    Entry(queries.LabGroupText, Router.of_analysis, "lab.pages.lab_text", wants=LAGS),
    Entry(queries.LabPartitionText, Router.of_analysis, "lab.rows.lab_partition_text", wants=LAGS),
    Entry(queries.LabFlow, Router.of_analysis, "lab.flow.lab_flow", wants=LAGS),
    Entry(queries.LabBars, Router.of_analysis, "lab.pages.lab_bars", wants=LAGS),
    Entry(queries.PlanBrokerList, Router.of_analysis, "plan_pictures.plan_brokers", wants=SIZES),
    Entry(queries.PlanChangeList, Router.of_analysis, "planned.plan_changes", wants=SIZES),
    Entry(queries.PlanBatchList, Router.of_analysis, "planned.plan_batches", wants=SIZES),
    Entry(queries.PlanMatrix, Router.of_analysis, "plan_pictures.plan_matrix", wants=SIZES),
    Entry(queries.PlanText, Router.of_analysis, "plan_pages.plan_text", wants=SIZES),
    Entry(queries.PlanReviewText, Router.of_analysis, "plan_pages.plan_review", wants=SIZES),
    Entry(of_past.HourList, Router.of_analysis, "history.pages.history_hours"),
    Entry(of_past.MomentList, Router.of_analysis, "history.pages.history_moments"),
    Entry(of_past.LeaderlessList, Router.of_analysis, "history.pages.history_topics"),
    Entry(of_past.StormList, Router.of_analysis, "history.pages.history_groups"),
    Entry(of_past.HistoryText, Router.of_analysis, "history.pages.history_text"),
    Entry(queries.ForecastTopicList, Router.of_analysis, "forecast.forecast_topics", wants=SIZES),
    Entry(queries.ForecastMomentList, Router.of_analysis, "forecast.forecast_moments", wants=SIZES),
    Entry(queries.ForecastCauseList, Router.of_analysis, "forecast.forecast_causes", wants=SIZES),
    Entry(queries.ForecastActionList, Router.of_analysis, "forecast.forecast_actions", wants=SIZES),
    Entry(queries.ForecastText, Router.of_analysis, "forecast.forecast_text", wants=SIZES),
    Entry(queries.WritePlan, Router.wish, Router.write_plan, refused=NO_WISH),
    # Log folders
    Entry(queries.LogPartitionList, Router.of_logs, "logs.pages.partition_list", refused=NO_LOGS),
    Entry(queries.LogSegmentList, Router.of_logs, "logs.pages.segment_list", refused=NO_LOGS),
    Entry(queries.LogBatchList, Router.of_logs, "logs.pages.batch_list", refused=NO_LOGS),
    Entry(queries.LogRecordList, Router.of_logs, "logs.pages.record_list", refused=NO_LOGS),
    Entry(queries.LogLookupList, Router.of_logs, "logs.pages.lookup_list", refused=NO_LOGS),
    Entry(queries.LogPartitionText, Router.of_logs, "logs.pages.partition_text", refused=NO_LOGS),
    Entry(queries.LogSegmentText, Router.of_logs, "logs.pages.segment_text", refused=NO_LOGS),
    Entry(queries.LogBatchText, Router.of_logs, "logs.pages.batch_text", refused=NO_LOGS),
    Entry(queries.LogRecordText, Router.of_logs, "logs.pages.record_text", refused=NO_LOGS),
    Entry(queries.LogLookupText, Router.of_logs, "logs.pages.lookup_text", refused=NO_LOGS),
    # The sandbox
    Entry(queries.ClusterPicture, Router.of_cluster_drawn, cluster_picture, refused=NO_PROCESSES, wants=LAGS),
    Entry(queries.ProcessList, Router.of_sandbox, sandbox_processes, refused=NO_PROCESSES),
    Entry(queries.LinkList, Router.of_sandbox, sandbox_links, refused=NO_PROCESSES),
    Entry(queries.SandboxText, Router.of_sandbox, sandbox_standing, refused=NO_PROCESSES),
    Entry(queries.ProcessText, Router.of_sandbox, process_text, refused=NO_PROCESSES),
    Entry(queries.SandboxRequest, Router.wish, Router.in_sandbox, refused=NO_WISH),
    # The past
    Entry(of_past.PastEventList, Router.of_past, past_window),
    Entry(of_past.PastEventText, Router.of_past, past_event_text),
    Entry(of_past.EventStrip, Router.of_past, event_strip),
    Entry(of_past.ComparisonText, Router.of_past, past_comparison),
    Entry(of_past.MarkMoment, Router.wish, Router.mark),
    Entry(of_past.SaveSnapshot, Router.wish, Router.save_snapshot, refused=NO_WISH),
    # What is done to the cluster, and what is under way
    Entry(queries.ProposalText, Router.of_proposal),
    Entry(queries.ConfirmProposal, Router.wish, Router.confirm, refused=NO_WISH),
    Entry(JobsText, Router.of_jobs),
    Entry(StopJobs, Router.wish, Router.stop),
)
