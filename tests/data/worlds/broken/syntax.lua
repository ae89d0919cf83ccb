function step(state, event) retrun state end
