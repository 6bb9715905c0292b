//! Published labels of real failures against what the rules say (AgentRx on tau-bench retail).
